/** Runs nginx in front of a gateway, with the configuration that docs/reference/gateway.md shows. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { userInfo } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export interface Nginx {
  /** The address at which nginx answers over HTTP/1.1, without TLS. */
  readonly http1: string;
  /** The address at which nginx answers over HTTP/2, with TLS. */
  readonly http2: string;
  /** The file of its access log. */
  readonly log: string;
  stop(): Promise<void>;
}

export interface NginxOptions {
  /** An empty folder. */
  readonly folder: string;
  /** The ports of the gateway. */
  readonly gateway: { readonly http1: number; readonly http2: number };
}

/** Starts nginx. Resolves when it accepts connections. */
export async function startNginx(program: string, { folder, gateway }: NginxOptions): Promise<Nginx> {
  const [plain, secure] = [await freePort(), await freePort()];
  makeCertificate(folder);
  mkdirSync(path.join(folder, "temp"), { recursive: true });
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((use) => `${use}_temp_path temp/${use};`);
  const log = path.join(folder, "access.log");
  const text = `
    daemon off;
    pid nginx.pid;
    user ${userInfo().username};
    error_log stderr;
    events {}
    http {
      ${temp.join("\n")}
      access_log ${log} combined;
      ${documentedConfiguration()
        .replaceAll("127.0.0.1:8080", `127.0.0.1:${gateway.http1}`)
        .replaceAll("127.0.0.1:8081", `127.0.0.1:${gateway.http2}`)
        .replace("listen 80;", `listen 127.0.0.1:${plain};`)
        .replace("listen 443 ", `listen 127.0.0.1:${secure} `)
        .replaceAll("/etc/nginx/", `${folder}/`)}
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
  await Promise.race([ended, accepts(plain)]);
  ended.catch(() => {});
  return {
    http1: `http://127.0.0.1:${plain}`,
    http2: `https://127.0.0.1:${secure}`,
    log,
    async stop() {
      child.kill("SIGTERM");
      await ended.catch(() => {});
    },
  };
}

/** Returns the block of nginx's configuration in the reference of the gateway. */
function documentedConfiguration(): string {
  const page = fileURLToPath(new URL("../../docs/reference/gateway.md", import.meta.url));
  const [, block] = /```nginx\n(.*?)```/s.exec(readFileSync(page, "utf8")) ?? [];
  if (block === undefined) throw new Error(`cannot find a block of nginx's configuration in ${page}`);
  return block;
}

function makeCertificate(folder: string): void {
  const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=127.0.0.1".split(" ");
  const files = ["-keyout", path.join(folder, "key.pem"), "-out", path.join(folder, "certificate.pem")];
  execFileSync("openssl", [...args, ...files], { stdio: "pipe" });
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
