/** Checks that the compiler retains no object of TypeScript when all results of a run are kept. */
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
 * Counts live objects of TypeScript. All nodes of a syntax tree refer to each other, so a reference to one node keeps
 * the whole file. Each kind is counted after a garbage collection, which takes a while.
 */
function living(...kinds: readonly ("SourceFile" | "Symbol" | "Type")[]): readonly number[] {
  // TypeScript creates its objects with these constructors, which its type declarations do not contain.
  const { objectAllocator } = loadCompiler() as unknown as {
    readonly objectAllocator: Readonly<Record<`get${string}Constructor`, () => new () => object>>;
  };
  return kinds.map((kind) => queryObjects(objectAllocator[`get${kind}Constructor`]!(), { format: "count" }));
}

/** Is a function of its own, because its frame retains nothing once it has returned. */
async function run(folder: string, whileItRuns: () => void) {
  const project = new Project(folder);
  const memory = new CompileMemory();
  const compilation = compileProject(await project.config(), await project.source(), "1.0.0", memory);
  whileItRuns();
  // The project is used after the count, so that it is alive during the count.
  expect(await project.source()).toBeDefined();
  return { compilation, memory };
}

test("no object of the TypeScript compiler outlives a run whose results and memory are kept", async () => {
  // The first transpilation makes TypeScript keep one source file of its own for ever.
  loadCompiler().transpileModule("", {});
  const [own = 0] = living("SourceFile");
  let during: readonly number[] = [];
  const kept = await run(folderWith(files), () => {
    during = living("SourceFile");
  });
  expect(during[0]).toBeGreaterThan(own + 2);
  // Objects that one turn of the event loop holds are released in the next.
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(living("SourceFile", "Symbol", "Type")).toEqual([own, 0, 0]);
  expect(kept.compilation.output?.files).toHaveLength(3);
  expect(kept.memory).toBeInstanceOf(CompileMemory);
});
