/** Schemas that `.proto` files are kept of: `test/fixtures/artefacts/<case>/input`, a lock if there are tombstones, and what is made of them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { ArtefactInput } from "../../../../compiler/emit/artefact.js";
import { parseLock } from "../../../../compiler/lock/index.js";
import { inputOf, schemasIn } from "./lowered.js";

export const casesFolder = fileURLToPath(new URL("../../../fixtures/artefacts/", import.meta.url));
export const cases: readonly string[] = readdirSync(casesFolder);

export function inputOfCase(name: string): ArtefactInput {
  const texts = schemasIn(path.join(casesFolder, name, "input"));
  const lockFile = path.join(casesFolder, name, "viceroy.lock");
  if (!existsSync(lockFile)) return inputOf(texts);
  const { lock, problems } = parseLock(lockFile, readFileSync(lockFile, "utf8"));
  if (problems.length > 0) throw new Error(`cannot read ${lockFile}: ${JSON.stringify(problems)}`);
  return inputOf(texts, lock);
}
