/** Writes the order of a command in its pod, by commands of the daemon there. */
import { randomBytes } from "node:crypto";
import type { HostMesh } from "../../kernel.js";
import { type CommandOrder, orderVariable } from "./command-order.js";

/** Number of characters of a part: one variable of a command can have 128 KiB. */
const partLength = 90_000;

/** Appends a part to the file of the order. With the last one, the file gets its name, by which the pod finds it. */
const script = `const fs = require("node:fs");
const { ${orderVariable}: file, PART, LAST } = process.env;
fs.writeFileSync(file + ".new", PART, { flag: "a", mode: 0o600 });
if (LAST === "yes") fs.renameSync(file + ".new", file);`;

/**
 * @param node the path of Node.js in the pod
 * @throws Error with what the pod says if it cannot be written
 */
export async function sendOrder(hosts: HostMesh<"hosts">, node: string, order: CommandOrder): Promise<void> {
  const text = JSON.stringify(order);
  const commands = hosts.commandsAt(0);
  for (let at = 0; at < text.length; at += partLength) {
    const isLast = at + partLength >= text.length;
    const env = { PART: text.slice(at, at + partLength), LAST: isLast ? "yes" : "no" };
    const id = randomBytes(8).readBigUInt64LE();
    let said = "";
    let code = 0;
    const started = commands.start({ command: [node, "-e", script], env, id }, new AbortController().signal);
    for await (const { stderr, exitCode, error } of started) {
      if (stderr !== undefined) said += Buffer.from(stderr).toString("utf8");
      if (exitCode === undefined) continue;
      code = exitCode;
      said += error ?? "";
    }
    if (code !== 0) throw new Error(`cannot write the order of the command in its pod: ${said.trim()}`);
  }
}
