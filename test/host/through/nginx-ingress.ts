/** Runs nginx as an ingress that ends TLS and forwards WebSockets to a driver gateway. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { TlsFiles } from "../../../runtime/link/transport/tls/credentials.js";

export interface Ingress {
  /** The URL that leads to the driver gateway. */
  readonly url: string;
  /** A path that nginx rewrites, one with a password, one without upgrades, and one of nothing. */
  at(place: "rewritten" | "guarded" | "old" | "nothing"): string;
  /** Returns the answers of nginx so far: `101 GET /viceroy`. */
  log(): string[];
}

/**
 * Starts nginx until the end of the test.
 * @param gateway the port of the driver gateway
 * @param silence the time in seconds after which nginx cuts a connection on which the gateway sends nothing
 */
export async function startIngress(
  program: string,
  gateway: number,
  files: TlsFiles,
  silence: number,
): Promise<Ingress> {
  const folder = mkdtempSync(path.join(tmpdir(), "vi-"));
  const port = await freePort();
  mkdirSync(path.join(folder, "temp"));
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((use) => `${use}_temp_path temp/${use};`);
  const log = path.join(folder, "access.log");
  writeFileSync(path.join(folder, "users"), "me:{PLAIN}secret\n");
  const text = `
    daemon off;
    worker_processes 1;
    pid nginx.pid;
    user ${userInfo().username};
    error_log stderr;
    events {}
    http {
      ${temp.join("\n")}
      log_format short '$status $request_method $uri';
      access_log ${log} short;
      server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${files.cert};
        ssl_certificate_key ${files.key};
        ${documentedLocation(gateway, silence)}
        location /rewritten/ {
          proxy_pass http://127.0.0.1:${gateway}/another/;
          proxy_http_version 1.1;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection "upgrade";
        }
        location /guarded {
          auth_basic "drivers";
          auth_basic_user_file ${folder}/users;
          proxy_pass http://127.0.0.1:${gateway};
          proxy_http_version 1.1;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection "upgrade";
        }
        location /old {
          proxy_pass http://127.0.0.1:${gateway};
          proxy_http_version 1.0;
        }
      }
    }`;
  const file = path.join(folder, "nginx.conf");
  writeFileSync(file, text);
  const child = spawn(program, ["-e", "stderr", "-p", folder, "-c", file], { stdio: ["ignore", "ignore", "pipe"] });
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (more: string) => {
    printed += more;
  });
  const ended = once(child, "close").then(() => {
    throw new Error(`nginx has ended: ${printed}`);
  });
  ended.catch(() => {});
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended.catch(() => {});
    rmSync(folder, { recursive: true });
  });
  await Promise.race([ended, accepts(port)]);
  return {
    url: `wss://localhost:${port}/viceroy`,
    at: (place) => `wss://localhost:${port}/${place}/x`,
    log: () =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line !== ""),
  };
}

/** Returns the location of nginx's configuration that docs/explanation/hosts.md shows, for this gateway. */
function documentedLocation(gateway: number, silence: number): string {
  const page = fileURLToPath(new URL("../../../docs/explanation/hosts.md", import.meta.url));
  const [, block] = /```nginx\n(.*?)```/s.exec(readFileSync(page, "utf8")) ?? [];
  if (block === undefined) throw new Error(`cannot find a block of nginx's configuration in ${page}`);
  return block.replace("n1:26680", `127.0.0.1:${gateway}`).replace("}", `  proxy_read_timeout ${silence}s;\n}`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves when something accepts connections at a port. */
async function accepts(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const connected = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
