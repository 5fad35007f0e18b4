"""Servers and cipher suites compared: CPU time of the server for sessions of 500 KB and 10 MB,
and for answers of 1 KB to 1,000 connections. Run by compare.sh."""

import argparse
import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SERVER = HERE / "target/release/tls-server"
SIZES = {"500 KB": 500_000, "10 MB": 10_000_000, "1 KB": 1024}

GCM = "TLS_AES_128_GCM_SHA256"
GCM_256 = "TLS_AES_256_GCM_SHA384"
CCM = "TLS_AES_128_CCM_SHA256"
CCM_8 = "TLS_AES_128_CCM_8_SHA256"
CHACHA = "TLS_CHACHA20_POLY1305_SHA256"
CBC = "ECDHE-ECDSA-AES128-SHA"
"""Of TLS 1.2, by OpenSSL's name: AES-128 in CBC with HMAC-SHA-1."""

OURS = {
    "batch": "this server, batch",
    "single": "this server, single",
    "rustls": "rustls, suites of aescomb-rustls",
    "aws-lc": "rustls, AWS-LC",
    "rustls-ccm": "rustls, rustls-ccm",
}
SERVERS = OURS | {"nginx": "nginx, OpenSSL"}

SESSIONS = {
    GCM: ["batch", "single", "rustls", "aws-lc", "nginx"],
    GCM_256: ["batch", "aws-lc", "nginx"],
    CCM: ["batch", "single", "rustls", "rustls-ccm", "nginx"],
    CCM_8: ["batch", "single", "rustls-ccm", "nginx"],
    CHACHA: ["aws-lc", "nginx"],
    CBC: ["nginx"],
}
"""Who can do what: rustls has no CBC, this server no ChaCha20."""

SMALL = {
    GCM: ["batch", "single", "aws-lc", "nginx"],
    CCM: ["batch", "single", "rustls-ccm", "nginx"],
}

CONNECTIONS = 1000
GATHER = 500
"""Microseconds that this server waits for more connections, for small answers."""

ROUNDS = 3
"""Small answers are measured so often, the servers in turn: the median counts. They are a matter
of microseconds, which move by a third with what else the machine does."""


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def cores():
    """One for the server, the others for clients."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        sys.exit("compare.py: one core; it wants two, one of them for the client")
    return str(usable[0]), ",".join(map(str, usable[1:])), len(usable) - 1


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Meter:
    """CPU time of a process of one thread: the sum as the scheduler has it, parted into user and
    system time by samples of perf, 5,000 a second. The kernel's own parting goes by its ticks,
    some 250 a second, and is off by tens of percent for loads like these; it is what there is
    where perf may not be used."""

    def __init__(self, pid, core, folder):
        self.pid, self.samples = pid, folder / "perf.data"
        self.perf = None
        if shutil.which("perf"):
            self.perf = subprocess.Popen(
                ["taskset", "-c", core, "perf", "record", "-q", "-e", "cpu-clock", "-F", "4999",
                 "-o", str(self.samples), "-p", str(pid)],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.3)
        self.before = self.read()

    def read(self):
        with open(f"/proc/{self.pid}/schedstat") as file:
            total = int(file.read().split()[0]) / 1e9
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return total, int(fields[11]), int(fields[12])

    def stop(self):
        """User and system time in seconds, and what parted them."""
        total, user, system = (now - then for now, then in zip(self.read(), self.before))
        by = "ticks"
        if self.perf:
            self.perf.send_signal(signal.SIGINT)
            self.perf.wait()
            script = subprocess.run(["perf", "script", "-i", str(self.samples), "-F", "ip"],
                                    capture_output=True, text=True)
            places = [int(line, 16) for line in script.stdout.split()]
            if places:
                system = sum(place >= 1 << 63 for place in places)
                user, by = len(places) - system, "perf"
        if user + system == 0:
            sys.exit("compare.py: too little to be measured")
        return total * user / (user + system), total * system / (user + system), by


class Bench:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.server_core, self.client_cores, self.threads = cores()
        root = self.folder / "root"
        root.mkdir()
        self.hashes = {}
        for name, size in SIZES.items():
            data = os.urandom(size)
            (root / str(size)).write_bytes(data)
            self.hashes[size] = hashlib.sha256(data).hexdigest()
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-keyout", "key.pem", "-out", "cert.pem", "-nodes", "-days", "30",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", cwd=self.folder)

    def client(self, *command):
        return ("taskset", "-c", self.client_cores) + command

    @contextlib.contextmanager
    def serving(self, server, suite, gather=0):
        port = free_port()
        if server == "nginx":
            tls13 = suite.startswith("TLS_")
            allowed = (f"ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites {suite};" if tls13
                       else f"ssl_protocols TLSv1.2; ssl_ciphers {suite};")
            (self.folder / "nginx.conf").write_text(f"""
                daemon off; master_process off; pid {self.folder}/nginx.pid;
                error_log {self.folder}/nginx.log;
                events {{ worker_connections 4096; }}
                http {{
                    access_log off; keepalive_requests 1000000000;
                    open_file_cache max=100; default_type application/octet-stream;
                    client_body_temp_path {self.folder}; proxy_temp_path {self.folder};
                    fastcgi_temp_path {self.folder}; uwsgi_temp_path {self.folder};
                    scgi_temp_path {self.folder};
                    server {{
                        listen 127.0.0.1:{port} ssl backlog=4096; root {self.folder}/root;
                        ssl_certificate {self.folder}/cert.pem;
                        ssl_certificate_key {self.folder}/key.pem;
                        {allowed}
                    }}
                }}""")
            command = ["nginx", "-p", str(self.folder), "-c", "nginx.conf"]
        else:
            command = [str(SERVER), "--listen", f"127.0.0.1:{port}", "--cert", "cert.pem",
                       "--key", "key.pem", "--root", "root", "--layer", server,
                       "--suites", suite, "--connections", "4096", "--gather", str(gather)]
        child = subprocess.Popen(["taskset", "-c", self.server_core] + command, cwd=self.folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            for _ in range(200):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                if child.poll() is not None:
                    sys.exit(f"compare.py: {server}: {child.stderr.read()}")
                time.sleep(0.02)
            yield child.pid, f"https://localhost:{port}"
        finally:
            child.terminate()
            child.communicate(timeout=30)

    def meter(self, pid):
        return Meter(pid, self.client_cores, self.folder)

    def options(self, suite):
        if suite.startswith("TLS_"):
            return [f"--tls13-ciphers={suite}"]
        return [f"--ciphers={suite}"]

    def check(self, url, suite, size):
        """What curl gets is right, and by this suite."""
        choice = (["--tlsv1.3", "--tls13-ciphers", suite] if suite.startswith("TLS_")
                  else ["--tls-max", "1.2", "--ciphers", suite])
        got = subprocess.run(["curl", "-sS", "--cacert", "cert.pem", *choice, url],
                             cwd=self.folder, check=True, stdout=subprocess.PIPE).stdout
        if hashlib.sha256(got).hexdigest() != self.hashes[size]:
            sys.exit(f"compare.py: {suite}: what was sent is not what is served")

    def sessions(self, server, suite, size, seconds):
        """New connections, each for one object, 32 or 16 at a time."""
        at_once = 32 if size < 1_000_000 else 16
        with self.serving(server, suite) as (pid, base):
            url = f"{base}/{size}"
            self.check(url, suite, size)
            meter, start, done = self.meter(pid), time.monotonic(), 0
            while time.monotonic() - start < seconds:
                done += self.load(url, suite, "-n", str(at_once), "-c", str(at_once))
            elapsed = time.monotonic() - start
            used = meter.stop()
        return figures(size, done, elapsed, used)

    def load(self, url, suite, *options):
        out = run(*self.client("h2load", "--h1", "-t", "1", *self.options(suite), *options, url))
        done = int(re.search(r"(\d+) succeeded", out)[1])
        failed = re.search(r"(\d+) failed, (\d+) errored, (\d+) timeout", out)
        used = re.search(r"Cipher: (\S+)", out)
        if done == 0 or set(failed.groups()) != {"0"} or not used or used[1] != suite:
            sys.exit(f"compare.py: {suite}: {out}")
        return done

    def small(self, server, suite, seconds):
        """Answers of 1 KB to 1,000 connections that stay, without their handshakes."""
        warm, size = 3, SIZES["1 KB"]
        with self.serving(server, suite, GATHER) as (pid, base):
            url = f"{base}/{size}"
            self.check(url, suite, size)
            load = subprocess.Popen(
                self.client("h2load", "--h1", "-t", str(self.threads), *self.options(suite),
                            "-D", str(seconds + 2), "--warm-up-time", str(warm),
                            "-c", str(CONNECTIONS), url),
                stdout=subprocess.PIPE, text=True)
            time.sleep(warm + 0.5)
            meter, start = self.meter(pid), time.monotonic()
            time.sleep(seconds)
            elapsed, used = time.monotonic() - start, meter.stop()
            out = load.communicate()[0]
            each_second = float(re.search(r"([\d.]+) req/s", out)[1])
        return figures(size, each_second * elapsed, elapsed, used)

    def handshakes(self, server, suite, seconds):
        """New connections, one after the other, for 1 KB each: openssl s_time."""
        with self.serving(server, suite) as (pid, base):
            address = base.removeprefix("https://")
            meter = self.meter(pid)
            out = run(*self.client("openssl", "s_time", "-connect", address, "-new", "-time",
                                   str(seconds), "-tls1_3", "-ciphersuites", suite,
                                   "-www", f"/{SIZES['1 KB']}"))
            done = int(re.search(r"(\d+) connections in \d+ real seconds", out)[1])
            used = meter.stop()
        return figures(SIZES["1 KB"], done, seconds, used)


def median(before, found):
    """Of all rounds of a case so far."""
    before.append(found)
    before.sort(key=lambda one: one["user"])
    return before[len(before) // 2]


def figures(size, done, seconds, used):
    """Of each session or answer."""
    user, system, by = used
    return {"bytes": size, "user": user / done, "system": system / done,
            "each_second": done / seconds, "by": by}


def cases(quick):
    """What is measured, and for how many seconds."""
    for size in ["500 KB"] if quick else ["500 KB", "10 MB"]:
        for suite, servers in SESSIONS.items():
            for server in servers:
                yield size, suite, server, 1.5 if quick else 4
    if not quick:
        for suite, servers in SMALL.items():
            for server in servers * ROUNDS:
                yield "1 KB", suite, server, 4
        for server in ["batch", "aws-lc", "nginx"]:
            yield "handshake", GCM, server, 3


def place(row):
    """The order of tables: that of the lists above."""
    suites = [short(suite) for suite in SESSIONS]
    sizes = ["500 KB", "10 MB", "1 KB", "handshake"]
    servers = list(SERVERS.values())
    return (sizes.index(row["case"]), suites.index(row["suite"]), servers.index(row["server"]))


def row(cells, widths):
    return "| " + " | ".join(c.ljust(w) if i < 2 else c.rjust(w)
                             for i, (c, w) in enumerate(zip(cells, widths))) + " |"


def table(head, rows):
    widths = [max(len(line[i]) for line in [head] + rows) for i in range(len(head))]
    lines = [row(head, widths), "|" + "|".join("-" * (w + 2) for w in widths) + "|"]
    return "\n".join(lines + [row(line, widths) for line in rows])


def short(suite):
    return suite if suite == CBC else suite.removeprefix("TLS_").rsplit("_", 1)[0]


RATIOS = [
    (size, suite, server, most)
    for size in ["500 KB", "10 MB"]
    for suite, server, most in [
        (CCM, "rustls-ccm", 0.35), (CCM, "nginx", 0.35), (CCM, "single", None),
        (CCM_8, "rustls-ccm", 0.35), (CCM_8, "nginx", 0.35),
        (GCM, "aws-lc", 1.05), (GCM_256, "aws-lc", 1.05), (GCM, "single", None),
        (GCM, "nginx", None),
    ]
] + [("1 KB", CCM, "single", 0.5), ("1 KB", CCM, "rustls-ccm", None), ("1 KB", CCM, "nginx", None),
     ("1 KB", GCM, "single", None), ("1 KB", GCM, "aws-lc", None)]
"""What this server's user time, with all connections together, is set beside; and what the
ratio ought to be at most."""


def ratios(rows):
    found = {(row["case"], row["suite"], row["server"]): row for row in rows}
    for size, suite, server, most in RATIOS:
        ours = found.get((size, short(suite), SERVERS["batch"]))
        theirs = found.get((size, short(suite), SERVERS[server]))
        if ours and theirs:
            both = (ours["user"] + ours["system"]) / (theirs["user"] + theirs["system"])
            yield {"case": size, "suite": short(suite), "other": SERVERS[server],
                   "user": ours["user"] / theirs["user"], "both": both, "target": most}


def show(kept):
    print(f"{kept['cpu']}, {kept['date']}; {', '.join(kept['versions'])}")
    by = sorted({row["by"] for row in kept["rows"]})
    print(f"User and system time are parted by {' and '.join(by)}.")
    titles = {
        "500 KB": "Sessions of 500 KB", "10 MB": "Sessions of 10 MB",
        "1 KB": f"Answers of 1 KB to {CONNECTIONS} connections, without their handshakes",
        "handshake": "New connections for 1 KB, one after the other (openssl s_time)",
    }
    for case, title in titles.items():
        rows = [row for row in kept["rows"] if row["case"] == case]
        if rows:
            print(f"\n{title}: CPU time of the server\n")
            print(table(["suite", "server", "user ms", "system ms", "user s/GB", "system s/GB",
                         "each second"],
                        [[row["suite"], row["server"],
                          f"{row['user'] * 1e3:.4f}", f"{row['system'] * 1e3:.4f}",
                          f"{row['user'] * 1e9 / row['bytes']:.3f}",
                          f"{row['system'] * 1e9 / row['bytes']:.3f}",
                          f"{row['each_second']:.0f}"] for row in rows]))
    if kept["ratios"]:
        print("\nRecords of all connections together, over others\n")
        print(table(["case", "other", "user time", "user and system", "target of user time"],
                    [[f"{r['case']}, {r['suite']}", r["other"], f"{r['user']:.2f}",
                      f"{r['both']:.2f}",
                      "" if r["target"] is None else
                      f"{r['target']}, {'met' if r['user'] <= r['target'] else 'missed'}"]
                     for r in kept["ratios"]]))


def main():
    parser = argparse.ArgumentParser(prog="compare.sh", description=__doc__)
    parser.add_argument("--quick", action="store_true",
                        help="each suite, sessions of 500 KB only")
    parser.add_argument("--only", metavar="TEXT", default="",
                        help="cases whose names have this in them, such as CCM or '10 MB'")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path,
                        help="keep the figures in FILE, beside those of other cases in it")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * CONNECTIONS
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    kept = {"rows": []}
    if options.json and options.json.exists():
        kept = json.loads(options.json.read_text())
    with open("/proc/cpuinfo") as file:
        kept["cpu"] = re.search(r"model name\s*: (.*)", file.read())[1]
    kept["date"] = datetime.date.today().isoformat()
    nginx = subprocess.run(["nginx", "-v"], check=True, capture_output=True, text=True).stderr
    kept["versions"] = [nginx.strip().removeprefix("nginx version: "),
                        run("openssl", "version").split("(")[0].strip(),
                        run("h2load", "--version").strip()]
    with tempfile.TemporaryDirectory() as folder:
        bench, rounds = Bench(folder), {}
        for size, suite, server, seconds in cases(options.quick):
            name = f"{size}, {suite}, {server}"
            if options.only not in name:
                continue
            if size == "1 KB":
                found = bench.small(server, suite, seconds)
            elif size == "handshake":
                found = bench.handshakes(server, suite, seconds)
            else:
                found = bench.sessions(server, suite, SIZES[size], seconds)
            print(f"{name}: user {found['user'] * 1e6:.1f} us, system {found['system'] * 1e6:.1f} us",
                  file=sys.stderr)
            found = median(rounds.setdefault(name, []), found)
            row = {"case": size, "suite": short(suite), "server": SERVERS[server]} | found
            same = ["case", "suite", "server"]
            kept["rows"] = [r for r in kept["rows"] if any(r[k] != row[k] for k in same)] + [row]
            kept["rows"].sort(key=place)
            kept["ratios"] = list(ratios(kept["rows"]))
            if options.json:
                options.json.write_text(json.dumps(kept, indent=1) + "\n")
    if not kept["rows"]:
        sys.exit(f"compare.py: no case has \"{options.only}\" in its name")
    show(kept)


main()
