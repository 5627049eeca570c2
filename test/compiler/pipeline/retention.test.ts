/** What the compiler leaves behind: nothing of TypeScript's, though all that a run gave is kept. */
import { queryObjects } from "node:v8";
import { expect, test } from "vitest";
import { Project } from "../../../compiler/cli/project.js";
import { CompileMemory, compileProject } from "../../../compiler/pipeline/index.js";
import { loadCompiler } from "../../../compiler/source/ts-morph/load-compiler.js";
import { folderWith } from "../folder.js";

const files = {
  "package.json": '{ "name": "shop", "type": "module" }',
  "viceroy.config.ts": 'export default { schemas: "schemas/**/*.ts", actors: "src/**/*.ts" };\n',
  "schemas/a.ts":
    'import type { Actor, Int32 } from "viceroy/schema";\nexport type Kind = "a" | "b";\n' +
    "export interface Page<T> { items: T[]; kind: Kind }\nexport interface A { pages: Page<Int32>; again?: A }\n" +
    "export interface Store extends Actor { get(key: string): A }\n",
  "schemas/b.ts": 'import type { A } from "./a.js";\nexport interface B { a: A; part: Pick<A, "pages"> }\n',
  "src/store.ts": 'import { StoreActor } from "../generated/a.js";\nexport class MemoryStore extends StoreActor {}\n',
};

/**
 * Objects of the compiler that live. A syntax tree hangs together: whoever keeps a node of it keeps its file. Each kind is
 * counted after garbage has been collected, which takes a while.
 */
function living(...kinds: readonly ("SourceFile" | "Symbol" | "Type")[]): readonly number[] {
  // Its constructors are where it makes them, for its own services; they are no part of what it declares.
  const { objectAllocator } = loadCompiler() as unknown as {
    readonly objectAllocator: Readonly<Record<`get${string}Constructor`, () => new () => object>>;
  };
  return kinds.map((kind) => queryObjects(objectAllocator[`get${kind}Constructor`]!(), { format: "count" }));
}

/** In a function of its own, whose frame keeps nothing once it has returned. */
async function run(folder: string, whileItRuns: () => void) {
  const project = new Project(folder);
  const memory = new CompileMemory();
  const compilation = compileProject(await project.config(), await project.source(), "1.0.0", memory);
  whileItRuns();
  // Used after the look, so that it is alive during it.
  expect(await project.source()).toBeDefined();
  return { compilation, memory };
}

test("no object of the TypeScript compiler outlives a run, whose results and memory are kept", async () => {
  // A file of its own that it keeps from then on.
  loadCompiler().transpileModule("", {});
  const [own = 0] = living("SourceFile");
  let during: readonly number[] = [];
  const kept = await run(folderWith(files), () => {
    during = living("SourceFile");
  });
  expect(during[0]).toBeGreaterThan(own + 2);
  // What a turn of the event loop holds is let go of in the next.
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(living("SourceFile", "Symbol", "Type")).toEqual([own, 0, 0]);
  expect(kept.compilation.output?.files).toHaveLength(3);
  expect(kept.memory).toBeInstanceOf(CompileMemory);
});
