/** The project of vaults, whose actors have checkpoints: compiled when first needed. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileProject } from "../proc/crew.js";

export async function loadVaults() {
  await compileProject(fileURLToPath(new URL("../fixtures/vault/", import.meta.url)));
  await import("../fixtures/vault/generated/registry.js");
  return import("../fixtures/vault/src/vaults.js");
}

export type Vaults = Awaited<ReturnType<typeof loadVaults>>;

/** A directory that is empty. */
export function emptyDirectory(): string {
  return mkdtempSync(join(tmpdir(), "vault-"));
}
