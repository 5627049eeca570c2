/** Judges what the Node.js of a host has said, and what can be reached through it. Pure. */
import { causeOf, socketAdvice } from "../end-advice.js";
import type { DriverFacts, Finding, Judge } from "./finding.js";
import type { NodeFacts } from "./probe-lines.js";
import type { HostFacts } from "./probed-host.js";

/** Returns the findings about Node.js and everything that needs it; none if the lines of `setup` have failed. */
export function processFindings(facts: HostFacts, driver: DriverFacts, judge: Judge): readonly Finding[] {
  const { node, said } = facts;
  if (node === undefined) return said.has("setup") ? [missingNode(facts, judge)] : [];
  return [
    judge("node", "ok", `Node.js ${node.version} at ${node.path}`),
    socketFinding(facts, node, judge),
    peerFinding(facts, node, driver, judge),
    platformFinding(node, driver, judge),
    packageFinding(node, driver, judge),
  ];
}

function missingNode({ host, said, output, endCode }: HostFacts, judge: Judge): Finding {
  const [found] = said.get("found") ?? [];
  const text = output.replace(/^viceroy host: /gm, "") || "Node.js printed nothing";
  if (found !== undefined) return judge("node", "problem", text, foundAdvice(found));
  if (endCode === undefined) return judge("node", "problem", `Node.js did not answer in time: ${text}`);
  return judge("node", "problem", text, causeOf(output, host)?.advice ?? `try "ssh ${host} node --version"`);
}

/** Where a terminal of the host, or a look into usual folders, has found a Node.js. */
function foundAdvice(found: string): string {
  const direct = `node: ${JSON.stringify(found)}`;
  if (!found.includes("/.nvm/")) return `there is one at ${found}: use the option ${direct}`;
  return `nvm has installed one, which only terminals find: use the option setup: '. "$HOME/.nvm/nvm.sh"', or ${direct}`;
}

function socketFinding({ host, output, socketError }: HostFacts, node: NodeFacts, judge: Judge): Finding {
  if (node.socketError !== undefined) {
    const advice = "make /tmp writable for the user, and free space there";
    return judge("sockets", "problem", `it cannot make a socket: ${node.socketError}`, advice);
  }
  if (socketError === null) return judge("sockets", "ok", "this machine reaches a socket there through ssh");
  // The shell of the host has answered, so this is not the channel for the command.
  const forbids = /^channel \d+: open failed: /m.test(output);
  const text = `this machine does not reach a socket there through ssh: ${forbids ? output : (socketError ?? "no answer")}`;
  return judge("sockets", "problem", text, forbids ? socketAdvice : `try "ssh -v ${host} true"`);
}

function peerFinding({ peers }: HostFacts, node: NodeFacts, { port }: DriverFacts, judge: Judge): Finding {
  const { address, addressError } = node;
  if (addressError !== undefined) {
    const isTaken = port !== null && addressError.includes("EADDRINUSE");
    const advice = isTaken
      ? `end the program that uses port ${port} there, or choose another one with the option port`
      : `other hosts would use ${address}, to which ssh has come: connect to the host by an address of its own`;
    return judge("peers", "problem", `it cannot listen for other hosts: ${addressError}`, advice);
  }
  const unreached = (peers ?? []).filter(({ error }) => error !== undefined);
  if (unreached.length === 0) {
    const others = peers?.length ?? 0;
    return judge("peers", "ok", others === 0 ? `it listens at ${address}` : `it reaches ${others} other hosts`);
  }
  const ports = port === null ? "all ports, or one port that the option port names" : `port ${port}`;
  return judge(
    "peers",
    "note",
    `it does not reach ${unreached.map(({ host, error }) => `${host} (${error})`).join(", ")}`,
    `their messages go through the driver instead, which is slower; for the direct way, let hosts connect to ${ports}`,
  );
}

function platformFinding({ platform }: NodeFacts, driver: DriverFacts, judge: Judge): Finding {
  if (platform === driver.platform) return judge("platform", "ok", platform);
  return judge(
    "platform",
    "note",
    `it is ${platform}, and this machine is ${driver.platform}: packages with native code do not fit both`,
    "install the packages of the program on the host itself; Viceroy works without its addons, and is slower then",
  );
}

function packageFinding({ hasPackage }: NodeFacts, { folder }: DriverFacts, judge: Judge): Finding {
  if (hasPackage) return judge("package", "ok", folder);
  const advice = "copy your package there, with its generated code and node_modules: no code of yours is sent";
  return judge("package", "note", `there is no folder ${folder}`, advice);
}
