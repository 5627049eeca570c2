/**
 * One run of Erlang: `node measure.js <server's cores> <profile>` starts two Erlang nodes, one of which calls the other as client.js does
 * (echo.erl). The nodes use TCP, as Erlang's distribution does. Each has one scheduler, which is pinned.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { pinned, runJson, startReady } from "../../harness/child.js";
import { cacheDir } from "../../harness/index.js";

const [, , serverCpus, profile] = process.argv;
const { warmUp, window, sequential } = JSON.parse(profile);

const compiled = cacheDir("erlang");
execFileSync("erlc", ["-o", compiled, fileURLToPath(new URL("echo.erl", import.meta.url))]);
// Each node knows the port of the other, so no port mapper is needed.
const port = String(await freePort());
const cookie = randomBytes(16).toString("hex");
const common = [
  "erl",
  "-noshell",
  "-pa",
  compiled,
  "-setcookie",
  cookie,
  "-start_epmd",
  "false",
  "-erl_epmd_port",
  port,
];
const node = (name, ...args) => [
  ...common,
  "-kernel",
  "inet_dist_use_interface",
  "{127,0,0,1}",
  "+S",
  "1:1",
  "-name",
  name,
  ...args,
];

const cpus = serverCpus === "" ? undefined : serverCpus;
const server = await startReady(pinned(cpus, node("server@127.0.0.1", "-s", "echo", "serve")));
const times = [warmUp, window, sequential].map(String);
const client = node(
  "client@127.0.0.1",
  "-dist_listen",
  "false",
  "-run",
  "echo",
  "measure",
  "server@127.0.0.1",
  ...times,
);
process.stdout.write(`${JSON.stringify(await runJson(client))}\n`);
await server.stop();
process.exit(0);

async function freePort() {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
