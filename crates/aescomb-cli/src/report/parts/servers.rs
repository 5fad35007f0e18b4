//! TLS servers by cipher suite: the "system level" of the talk on AES-GCM.

use super::*;
use crate::report::servers::Serving;

pub(super) const PART: Part = Part {
    id: "servers",
    title: "TLS servers, sessions of 500 KB and 10 MB",
    asks: |_| Vec::new(),
    show,
};

fn show(view: &View<'_>) -> Markup {
    let Some(servers) = view.servers else {
        return html! {
            p { "Not measured in this run: " code { "examples/tls-server/compare.sh --json servers.json" } " compares servers, and " code { "--servers servers.json" } " shows here what it found." }
        };
    };
    let mut cases: Vec<&str> = Vec::new();
    for row in &servers.rows {
        if !cases.contains(&&*row.case) {
            cases.push(&row.case);
        }
    }
    let targets = servers
        .ratios
        .iter()
        .filter_map(|ratio| Some((ratio.user, ratio.target?)));
    let met = targets
        .clone()
        .filter(|(user, target)| user <= target)
        .count();
    let all = targets.count();
    html! {
        p { "CPU time of servers by cipher suite, for new connections with one object each, and for answers of 1 KB to 1,000 connections. The talk \"AES-GCM for Efficient Authenticated Encryption\" (DIAC 2013) shows sessions of 500 KB and 10 MB of an Apache server on one core at 1 GHz, in charts without figures. Measured on " (servers.cpu) ", " (servers.date) ", with " (servers.versions.join(", ")) "." }
        @for case in cases {
            h3 { (case) }
            (table(
                &["suite", "server", "user ms", "system ms", "user s/GB", "system s/GB", "each second"],
                servers.rows.iter().filter(|row| row.case == case).map(serving),
            ))
        }
        h3 { "Records of all connections together, over others" }
        (table(
            &["case", "other", "user time", "user and system", "target"],
            servers.ratios.iter().map(|ratio| vec![
                cell(format!("{}, {}", ratio.case, ratio.suite)),
                left(&*ratio.other),
                figure(Some(ratio.user)),
                figure(Some(ratio.both)),
                cell(ratio.target.map_or(String::new(), |most| {
                    format!("{} ({most})", if ratio.user <= most { "met" } else { "missed" })
                })),
            ]),
        ))
        (seen(format!("{met} of {all} targets of user time are met.")))
    }
}

fn serving(row: &Serving) -> Vec<Markup> {
    let each_gb = 1e9 / row.bytes as f64;
    vec![
        cell(&*row.suite),
        left(&*row.server),
        figure(Some(row.user * 1e3)),
        figure(Some(row.system * 1e3)),
        figure(Some(row.user * each_gb)),
        figure(Some(row.system * each_gb)),
        cell(format!("{:.0}", row.each_second)),
    ]
}
