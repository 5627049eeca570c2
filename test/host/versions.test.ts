/** Tests of daemons of other versions of Viceroy: the schemas of the agents decide, and not the version numbers. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { hostAgentDescriptor } from "../../generated/host-agent.js";
import { formatId } from "../../runtime/link/address.js";
import { editRuntime } from "../sync/hosts/copied-build.js";
import { attachPatiently } from "./attach-patiently.js";
import { startHost } from "./start-host.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const copies: string[] = [];
afterEach(() => {
  for (const copy of copies.splice(0)) rmSync(copy, { recursive: true, force: true });
});

/** Makes a copy of the built package with another version and with `edits` in its runtime. @returns its command */
function otherVersion(edits: Readonly<Record<string, string>> = {}): string {
  const copy = mkdtempSync(join(tmpdir(), "vv-"));
  copies.push(copy);
  cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true, filter: (file) => !file.endsWith(".map") });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  writeFileSync(join(copy, "package.json"), JSON.stringify({ name: "viceroy", version: "99.0.0", type: "module" }));
  editRuntime({ dist: join(copy, "dist") }, { [`"${version}"`]: '"99.0.0"', ...edits });
  return join(copy, "dist/cli/viceroy.js");
}

test("a host of another version works if its agents have the same schemas", async () => {
  const host = await startHost("tcp://127.0.0.1:0", [], {}, [], otherVersion());
  const hosts = attachPatiently([host.address]);
  await hosts.ready;
  await hosts.stop();
  await using again = attachPatiently([host.address]);
  await again.ready;
  await again.shutdown();
  expect((await host.exited).code).toBe(0);
});

test("a host whose agents have other schemas refuses the driver at once, with both versions", async () => {
  const own = `0x${hostAgentDescriptor.fingerprint.toString(16)}n`;
  const host = await startHost("tcp://127.0.0.1:0", [], {}, [], otherVersion({ [own]: "0x1234567812345678n" }));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  await using hosts = attachPatiently([host.address]);
  await expect(hosts.ready).rejects.toThrow(
    `cannot attach host ${host.address}: the agents of hosts have another schema here, Viceroy 99.0.0, than at the driver, ` +
      `Viceroy ${version}; install versions on both whose agents have the same schemas, as two releases of one minor ` +
      `version have, got fingerprints 1234567812345678 and ${formatId(hostAgentDescriptor.fingerprint)}`,
  );
});
