// The types of schemas/b.ts, without codecs.
import type { A, Tree } from "./a.js";

export interface B {
  as: A[];
  tree?: Tree;
}
