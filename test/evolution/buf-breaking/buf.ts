/** What `buf breaking` finds, by the units that it speaks of. One process for all pairs: it takes longer to start than to compare. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { runPeer } from "../../peers.js";
import type { Finding } from "./finding.js";
import type { ProtoPair, ProtoSide } from "./pair.js";

const config = "version: v2\nmodules:\n  - path: proto\nbreaking:\n  use:\n    - WIRE\n";

interface Annotation {
  readonly path?: string;
  readonly start_line?: number;
  readonly type: string;
  readonly message: string;
}

/**
 * @param pairs by their packages, which have two parts: `pair1.v1`
 * @throws Error when buf says anything that is not understood
 */
export function bufFindings(pairs: ReadonlyMap<string, ProtoPair>): ReadonlyMap<string, readonly Finding[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-buf-breaking-"));
  try {
    for (const side of ["older", "newer"] as const) {
      const root = path.join(folder, side);
      for (const pair of pairs.values()) writeSide(root, pair[side]);
      writeFileSync(path.join(root, "buf.yaml"), config);
    }
    const args = ["breaking", "newer", "--against", "older", "--error-format", "json"];
    const { status, stdout, stderr } = runPeer("buf", args, { cwd: folder });
    // 100: it has found something. Anything else is on stderr.
    if (stderr !== "" || (status !== 0 && status !== 100)) throw new Error(`buf breaking failed: ${stdout}${stderr}`);
    const lines = stdout.toString().split("\n");
    const found = new Map([...pairs.keys()].map((name): [string, Finding[]] => [name, []]));
    for (const line of lines) {
      if (line === "") continue;
      const annotation = JSON.parse(line) as Annotation;
      if (annotation.type === "COMPILE") {
        const text = readFileSync(path.join(folder, annotation.path ?? ""), "utf8");
        throw new Error(`buf cannot read what is printed: ${line}\n${text}`);
      }
      const [, name = ""] = /^newer\/proto\/([^/]+\/v1)\//.exec(annotation.path ?? "") ?? [];
      const protoPackage = name.replace("/", ".");
      const pair = pairs.get(protoPackage);
      if (pair === undefined) throw new Error(`buf speaks of no pair: ${line}`);
      const unit = `${protoPackage}.${unitOf(annotation, pair)}`;
      found.get(protoPackage)?.push({ by: "buf", rule: annotation.type, unit });
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeSide(root: string, { files }: ProtoSide): void {
  for (const file of files) {
    const place = path.join(root, file.path);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, file.content);
  }
}

/** Without the package, which buf leaves out. */
function unitOf({ message, path: file, start_line: line = 0 }: Annotation, pair: ProtoPair): string {
  const { newer } = pair;
  const [, rpc, service] = /RPC "(.+?)" on service "(.+?)"/.exec(message) ?? [];
  if (rpc !== undefined) return `${service}.${rpc}`;
  const [, number, owner] = /(?:[Ff]ield|enum value) "(-?\d+)" .*on (?:message|enum) "(.+?)"/.exec(message) ?? [];
  if (number === undefined) {
    const [, whole] = / on (?:message|enum) "(.+?)"/.exec(message) ?? [];
    if (whole === undefined) throw new Error(`cannot tell what buf speaks of: ${message}`);
    return wholeName(whole, pair);
  }
  const lines =
    newer.files
      .find(({ path }) => `newer/${path}` === file)
      ?.content.toString()
      .split("\n") ?? [];
  // The key or the value of a map: its entry is no message of its own, but stands in the line of the field.
  const [, map] = /^ *map<.* = (\d+)(?: \[.*\])?;$/.exec(lines[line - 1] ?? "") ?? [];
  if (map === undefined) return `${wholeName(owner ?? "", pair)}#${number}`;
  return `${messageAt(lines.slice(0, line))}#${map}`;
}

/** Of nested types buf leaves out what is around them, too. */
function wholeName(simple: string, { older, newer }: ProtoPair): string {
  const names = [older, newer].flatMap(({ schema }) => [...schema.messages.keys(), ...schema.enums.keys()]);
  // The package has two parts.
  const whole = names.map((name) => name.split(".").slice(2).join("."));
  return whole.find((name) => name === simple) ?? whole.find((name) => name.endsWith(`.${simple}`)) ?? simple;
}

/** The message that the last line stands in. */
function messageAt(lines: readonly string[]): string {
  const around: string[] = [];
  for (const line of lines) {
    const [, indentation = "", name] = /^( *)message (\w+) /.exec(line) ?? [];
    if (name !== undefined) around.splice(indentation.length / 2, around.length, name);
  }
  const depth = (/^ */.exec(lines.at(-1) ?? "")?.[0].length ?? 0) / 2;
  return around.slice(0, depth).join(".");
}
