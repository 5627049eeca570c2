/** The generated code of endpoints with tensors, apart from their codecs. */
import { describe, expect, test } from "vitest";
import { emitTypeScript } from "../../../compiler/emit/index.js";
import { assignIds } from "../../../compiler/lock/index.js";
import { openTypeSource, readSchema } from "../../../compiler/source/index.js";

function compile(files: Readonly<Record<string, string>>) {
  const source = openTypeSource({ exists: () => false });
  source.update(Object.entries(files).map(([path, text]) => ({ path, text })));
  const { schema, diagnostics } = readSchema(source, "test");
  if (diagnostics.length > 0) return { texts: new Map<string, string>(), diagnostics };
  const options = { version: "0.0.0", schemaRoot: "schemas", out: "made/code", actors: [] };
  const texts = emitTypeScript(assignIds(schema).schema, options);
  return { texts: new Map(texts.map(({ path, text }) => [path, text])), diagnostics };
}

function actorWith(endpoint: string): Readonly<Record<string, string>> {
  return {
    "schemas/deep/layer.ts": `import type { Actor, Tensor } from "viceroy/schema";
import type { Batch } from "../batch.js";
export interface Layer extends Actor { ${endpoint} }
`,
    "schemas/batch.ts": `import type { Tensor } from "viceroy/schema";
export interface Batch { name: string; next?: Batch; parts: Map<string, Part[]> }
export interface Part { values?: Tensor }
`,
  };
}

function layerWith(endpoint: string): string {
  const { texts, diagnostics } = compile(actorWith(endpoint));
  expect(diagnostics).toEqual([]);
  return texts.get("deep/layer.ts")!;
}

describe("an endpoint", () => {
  test("gets the interceptor for tensors of a mesh if its arguments contain tensors at any depth", () => {
    for (const endpoint of ["learn(batch: Batch): void", "learn(rate: number, gradients?: [Tensor, number]): void"]) {
      const text = layerWith(endpoint);
      expect(text).toMatch(/learn: \{[^}]* interceptor: tensorArguments \}/);
      expect(text).toMatch(/import \{[^}]*tensorArguments[^}]*\} from "viceroy\/tensor";/);
    }
  });

  test("gets no interceptor if its arguments contain no tensors", () => {
    expect(layerWith("learn(rate: number): Tensor")).not.toContain("interceptor:");
    expect(layerWith("learn(rate: number): number")).not.toContain("viceroy/tensor");
  });

  test("with `@propagate` and a function imports the function and states the types that it must have", () => {
    const text = layerWith(
      `/** @propagate ../../src/shapes.ts#forward */ forward(batch: Tensor, rate?: number): Tensor`,
    );
    expect(text).toContain('import { forward } from "../../../src/shapes.js";');
    expect(text).toContain("interceptor: propagated<[batch: Tensor, rate?: number], Tensor>(forward),");
    expect(text).toContain("readonly forward: PropagatedEndpoint<[batch: Tensor, rate?: number], Tensor, D, Tensor>;");
  });

  test("with `@propagate` and no function has an rref that returns a promise", () => {
    const text = layerWith("/** @propagate */ forward(): Tensor[]");
    expect(text).toContain("interceptor: propagated()");
    expect(text).toContain("readonly forward: PropagatedEndpoint<[], Tensor[], D, Promise<Tensor[]>>;");
  });

  test("with an invalid `@propagate` gets a diagnostic with an example", () => {
    for (const value of [
      "shapes.ts#forward",
      "../src/shapes.ts",
      "../src/shapes.ts#",
      "../src/shapes#forward",
      "sum",
    ]) {
      const { diagnostics } = compile(actorWith(`/** @propagate ${value} */ forward(batch: Tensor): Tensor`));
      expect(diagnostics).toMatchObject([
        {
          code: "VC1303",
          text: `invalid @propagate: expected no value, or a module and its function that computes shapes, got "${value}"`,
          fix: "Write, for example, `@propagate ../src/shapes.ts#linear`.",
        },
      ]);
    }
  });
});

test("`@propagate` changes the fingerprint of an actor, but its function does not", () => {
  const of = (tag: string) => /fingerprint: (0x[\da-f]+)n/.exec(layerWith(`${tag} forward(batch: Tensor): Tensor`))![1];
  expect(of("/** @propagate */")).not.toBe(of(""));
  expect(of("/** @propagate */")).toBe(of("/** @propagate ../../src/shapes.ts#forward */"));
});

test("a task with tensors gets their codec, since its arguments are copied outside of messages", () => {
  const { texts, diagnostics } = compile({
    "schemas/a.ts": `import type { Task, Tensor } from "viceroy/schema";
export interface Scale extends Task<[weights: Tensor, by?: number], Tensor> {}
`,
  });
  expect(diagnostics).toEqual([]);
  const text = texts.get("a.ts")!;
  expect(text).toContain('import { type Tensor, tensorCodec } from "viceroy/tensor";');
  expect(text).toContain("ScaleTask: TaskSchema<[weights: Tensor, by?: number], Tensor>");
  expect(text).toContain("args: () => [tensorCodec(), codec.double],");
  expect(text).toContain("result: () => tensorCodec(),");
});
