/** Files that are watched while others make and remove their folders. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { WatchedFiles } from "../../../compiler/cli/watch-files.js";
import { until } from "../../proc/until.js";
import { folderWith } from "../folder.js";

let watched: WatchedFiles;
afterEach(() => watched.close());

/** Returns the texts of one file, where something happens after its folder was looked for and before the folder is watched. */
function textsDuring(
  file: string,
  text: string | undefined,
  happens: () => void,
): ReadonlyMap<string, undefined | string> {
  class Texts extends Map<string, string | undefined> {
    override *keys(): MapIterator<string> {
      yield* super.keys();
      happens();
    }
  }
  return new Texts([[file, text]]);
}

test.each([
  ["made", undefined, (folder: string) => mkdirSync(folder)],
  ["removed", "text", (folder: string) => rmSync(folder, { recursive: true })],
])(
  "a folder that is %s before its parent is watched is a change, and so is what comes after it",
  async (how, text, happens) => {
    const root = folderWith(text === undefined ? { "other.ts": "" } : { "generated/price.ts": text });
    const folder = path.join(root, "generated");
    const file = path.join(folder, "price.ts");
    let changes = 0;
    watched = new WatchedFiles({
      onChange: () => changes++,
      onError: (error) => {
        throw error;
      },
    });
    watched.watch(textsDuring(file, text, () => happens(folder)));
    expect(changes).toBe(1);
    watched.watch(new Map([[file, undefined]]));
    if (how === "removed") mkdirSync(folder);
    else writeFileSync(file, "new");
    await until(() => changes > 1);
  },
);
