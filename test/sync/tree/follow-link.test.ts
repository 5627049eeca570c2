import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { contains } from "../../../runtime/sync/scan/check-root.js";
import { followLink } from "../../../runtime/sync/tree/tree-path.js";
import { cases } from "../../profile.js";

const target = fc
  .array(fc.constantFrom("..", ".", "a", "b", "c", "d1", "d2"), { minLength: 1, maxLength: 6 })
  .map((names) => names.join("/"));
const links = fc.dictionary(fc.constantFrom("a", "b", "d1/a", "d1/c", "d1/d2/b", "d2/c"), target, { maxKeys: 6 });

test("links lead where the kernel says that they lead, and never out of the tree if they are accepted", () => {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), "links-")));
  let run = 0;
  fc.assert(
    fc.property(links, (targets) => {
      const tree = path.join(top, String(run++), "tree");
      mkdirSync(path.join(tree, "d1/d2"), { recursive: true });
      mkdirSync(path.join(tree, "d2"));
      for (const [at, to] of Object.entries(targets)) symlinkSync(to, path.join(tree, at));
      for (const at of Object.keys(targets)) {
        const followed = followLink(at, (name) => targets[name]);
        let real: string | undefined;
        try {
          real = realpathSync.native(path.join(tree, at));
        } catch {
          // The kernel finds nothing there.
        }
        if ("path" in followed && real !== undefined) expect(real).toBe(path.join(tree, followed.path));
        if (real !== undefined && !contains(tree, real)) expect(followed).toHaveProperty("refused");
      }
      rmSync(path.dirname(tree), { recursive: true });
    }),
    { numRuns: cases(200, 5_000) },
  );
});
