/** What the sources of an addon are, in 16 letters: the build of Viceroy asks for it, so that no process has to read them when it starts. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** @param sources the folder of the addon */
export function sourceKey(version: string, sources: string): string {
  const hash = createHash("sha256");
  hash.update(`${version}\0`);
  for (const name of readdirSync(sources).sort()) {
    if (/\.(cc|h)$/.test(name))
      hash
        .update(`${name}\0`)
        .update(readFileSync(path.join(sources, name)))
        .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}
