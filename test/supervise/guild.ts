/** The project of smiths, who fail on demand: compiled when first needed. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileProject } from "../proc/crew.js";

export async function loadGuild() {
  await compileProject(fileURLToPath(new URL("../fixtures/guild/", import.meta.url)));
  await import("../fixtures/guild/generated/registry.js");
  const { IronSmith } = await import("../fixtures/guild/src/iron-smith.js");
  const { IronChain } = await import("../fixtures/guild/src/iron-chain.js");
  return { IronSmith, IronChain };
}

export type Guild = Awaited<ReturnType<typeof loadGuild>>;

/** A file that is not there yet. */
export function ledger(): string {
  return join(mkdtempSync(join(tmpdir(), "guild-")), "ledger");
}

/** What a ledger says, a word a line. */
export function entries(file: string): string[] {
  return readFileSync(file, "utf8").trim().split("\n");
}
