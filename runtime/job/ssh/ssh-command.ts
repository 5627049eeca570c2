/** The command line of `ssh` for one host, and the shell script that it runs there. */
import { oldestNode } from "../host-node.js";
import { markVariable } from "../keeper/marked-processes.js";
import { endMarkedLines } from "../keeper/shell-ends.js";
import { quote } from "../quote.js";

export interface SshConnection {
  /** The name of the host, as `ssh` knows it. */
  readonly host: string;
  /** The user's arguments of `ssh`. */
  readonly sshOptions: readonly string[];
  /** The sockets on this machine that lead to sockets of the daemon on the host. */
  readonly forwards: readonly { readonly local: string; readonly remote: string }[];
  /** Environment variables of everything that runs on the host, among them the mark of its processes. */
  readonly env: Readonly<Record<string, string>>;
  /** Shell lines that run on the host first. */
  readonly setup: string | null;
  /** The Node.js of the host: a path, or a name that its shell finds. */
  readonly node: string;
}

/** Returns the command that connects to a host and runs a daemon there. */
export function sshCommand(connection: SshConnection): string[] {
  const { host, sshOptions, forwards } = connection;
  return [
    "ssh",
    ...connectionOptions(sshOptions),
    // A shared connection of the user would outlive this ssh, and would end it with itself.
    ...option("ControlPath", "none"),
    ...option("ExitOnForwardFailure", "yes"),
    ...option("StreamLocalBindUnlink", "yes"),
    ...option("StreamLocalBindMask", "0177"),
    "-T",
    ...forwards.flatMap(({ local, remote }) => ["-L", `${local}:${remote}`]),
    "--",
    host,
    throughAnyShell(remoteScript(connection)),
  ];
}

/** A port that a machine connects to for this one. */
export interface ForwardTarget {
  /** The machine that connects, as `ssh` knows it. */
  readonly machine: string;
  /** The user's arguments of `ssh`. */
  readonly sshOptions: readonly string[];
  /** The name or the IP address to which it connects, as it knows them. */
  readonly host: string;
  readonly port: number;
}

/** Returns the command whose standard input and output are a connection to a port. */
export function forwardCommand({ machine, sshOptions, host, port }: ForwardTarget): string[] {
  return [
    "ssh",
    ...connectionOptions(sshOptions),
    // A connection that the user shares is used. This one is not shared, because it ends with its port.
    ...option("ControlMaster", "no"),
    "-W",
    `${host.includes(":") ? `[${host}]` : host}:${port}`,
    "--",
    machine,
  ];
}

/** Returns the arguments that all connections have in common. ssh uses the first value of each option. */
export function connectionOptions(sshOptions: readonly string[] = []): string[] {
  return [
    // It must never ask: nobody can answer.
    ...option("BatchMode", "yes"),
    ...sshOptions,
    ...option("ConnectTimeout", "15"),
    ...option("ServerAliveInterval", "5"),
    ...option("ServerAliveCountMax", "3"),
    ...option("RemoteCommand", "none"),
  ];
}

function option(name: string, value: string): [string, string] {
  return ["-o", `${name}=${value}`];
}

/** The exit code of a host that cannot run a daemon. */
const unusableCode = 69;

function remoteScript({ env, setup, node }: SshConnection): string {
  const name = quote(node);
  return [
    "set -e",
    ...Object.entries(env).map(([variable, value]) => `export ${variable}=${quote(value)}`),
    // Standard input belongs to the daemon.
    ...(setup === null ? [] : [startWatch, `{ ${setup}\n} < /dev/null`]),
    `if ! command -v ${name} > /dev/null 2>&1; then`,
    `  printf 'viceroy host: there is no Node.js here: the shell finds no program %s\\n' ${name} >&2`,
    `  exit ${unusableCode}`,
    "fi",
    ...(setup === null ? [] : [endWatch]),
    `exec ${name} -e ${quote(receiver)}`,
  ].join("\n");
}

/**
 * Ends the lines of `setup`, and what they have started, when the server of ssh has lost the connection: only Node.js
 * notices the end of standard input. The parent of the shell is the server's process for the connection.
 */
const watch = `
while kill -0 "$1"; do sleep 1; done${endMarkedLines}`;
const startWatch = `
viceroy_watch=
if kill -0 "$PPID" 2> /dev/null; then
  /bin/sh -c ${quote(watch)} sh "$PPID" "$${markVariable}" < /dev/null > /dev/null 2>&1 &
  viceroy_watch=$!
fi`;
const endWatch = '[ -z "$viceroy_watch" ] || kill "$viceroy_watch" || :';

/**
 * The first program that runs on the host: it reads one line, the order with the text of the starter
 * (starter/main.ts), and runs the starter. It must be readable for every version of Node.js, to tell which one is too old.
 */
const receiver = `
var version = process.versions.node.split(".").map(Number);
var oldest = "${oldestNode}".split(".").map(Number);
if (version[0] < oldest[0] || (version[0] === oldest[0] && version[1] < oldest[1])) {
  console.error("viceroy host: Node.js " + process.versions.node + " is too old, ${oldestNode} is the oldest that works");
  process.exit(${unusableCode});
}
var received = Buffer.alloc(0);
process.stdin.on("data", function receive(chunk) {
  received = Buffer.concat([received, chunk]);
  var end = received.indexOf(10);
  if (end === -1) return;
  process.stdin.removeListener("data", receive);
  process.stdin.pause();
  if (end + 1 < received.length) process.stdin.unshift(received.slice(end + 1));
  var order = JSON.parse(received.slice(0, end).toString());
  new Function("require", "order", order.program)(require, order);
});
`;

/**
 * Returns a command that runs a script of the POSIX shell, whatever the user's login shell is. The script is one word
 * without line breaks, quotes, backslashes before quotes, and exclamation marks, which the shells read differently.
 */
function throughAnyShell(script: string): string {
  const word = script.replace(/[^ -~]|[\\'!]/g, (character) =>
    [...Buffer.from(character)].map((byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join(""),
  );
  return `exec /bin/sh -c 'eval "$(printf %b "$1")"' sh '${word}'`;
}
