import { ts } from "ts-morph";
import { expect, test } from "vitest";
import { findActors } from "../../../compiler/actors/index.js";
import { outlineOf } from "../../../compiler/source/ts-morph/outline.js";

const bases: Readonly<Record<string, string>> = {
  "generated/counter.ts#CounterActor": "schemas/counter.ts#Counter",
  "generated/a/store.ts#StoreActor": "schemas/a/store.ts#Store",
};

function search(files: Readonly<Record<string, string>>, parsed: string[] = []) {
  return findActors({
    files: Object.keys(files).reverse(),
    read: (path) => files[path],
    outline: (path, text) => {
      parsed.push(path);
      return outlineOf(ts, path, text);
    },
    generatedBase: (path, name) => bases[`${path}#${name}`],
  });
}

function find(files: Readonly<Record<string, string>>, parsed: string[] = []) {
  return search(files, parsed).actors.map(({ path, name, actor }) => `${path}#${name} is ${actor}`);
}

test("an exported class that extends a generated base is an actor, even before the base is generated", () => {
  const text = 'import { CounterActor } from "../generated/counter.js";\nexport class Memory extends CounterActor {}';
  expect(find({ "src/memory.ts": text })).toEqual(["src/memory.ts#Memory is schemas/counter.ts#Counter"]);
});

test("findActors follows base classes through files, renamed imports, namespaces and re-exports", () => {
  const files = {
    "src/base.ts":
      'import * as g from "../generated/counter.js";\nexport abstract class Base extends g.CounterActor {}\nclass Hidden extends Base {}\nexport { Hidden as Shown };',
    "src/index.ts": 'export * from "./base.js";\nexport { Base as Renamed } from "./base.js";',
    "src/deep/one.ts": 'import { Renamed as R } from "../index.js";\nexport class One extends R {}',
    "src/deep/two.ts": 'import { Shown } from "..";\nexport default class extends Shown {}',
    "src/deep/three.ts":
      'import Two from "./two";\nexport const Three = class extends Two {};\nexport class Four extends Three {}',
    "src/store.ts":
      'import { StoreActor as S } from "../generated/a/store.js";\nexport default class Disk extends S {}',
  };
  expect(find(files)).toEqual([
    "src/base.ts#Shown is schemas/counter.ts#Counter",
    "src/deep/one.ts#One is schemas/counter.ts#Counter",
    "src/deep/three.ts#Four is schemas/counter.ts#Counter",
    "src/deep/three.ts#Three is schemas/counter.ts#Counter",
    "src/deep/two.ts#default is schemas/counter.ts#Counter",
    "src/store.ts#default is schemas/a/store.ts#Store",
  ]);
});

test("a class that extends a mixin call is an actor when an argument of the call is a generated base", () => {
  const files = {
    "src/mixins.ts":
      'import { CounterActor } from "../generated/counter.js";\nimport { Logged } from "logged";\nexport const Base = Logged(CounterActor);\nexport abstract class Rough extends Logged(CounterActor) {}',
    "src/one.ts":
      'import * as g from "../generated/counter.js";\nimport { Logged, Timed } from "./more.js";\nexport class One extends Logged(Timed({ ms: 5 }, (g.CounterActor))) {}',
    "src/two.ts":
      'import { Base, Rough } from "./mixins.js";\nexport class Two extends Base {}\nexport class Three extends Rough {}',
  };
  expect(find(files)).toEqual([
    "src/one.ts#One is schemas/counter.ts#Counter",
    "src/two.ts#Three is schemas/counter.ts#Counter",
    "src/two.ts#Two is schemas/counter.ts#Counter",
  ]);
  expect(search(files).undecided).toEqual([]);
});

test("a class with a computed base is reported as undecided when its file imports a generated base", () => {
  const imports = 'import { CounterActor } from "../generated/counter.js";\n';
  const { actors, undecided: unclear } = search({
    "src/a.ts": `${imports}export class A extends bases["counter"] {}\nconst bases = { counter: CounterActor };`,
    "src/b.ts": `${imports}export class B extends CounterActor {}\nexport class Failure extends errorOf("x") {}`,
    "src/c.ts": 'export class C extends errorOf("x") {}',
    "src/d.ts": `${imports}const make = () => CounterActor;\n  export class D extends make() {}`,
  });
  expect(actors.map(({ name }) => name)).toEqual(["B"]);
  expect(unclear).toEqual([
    { path: "src/a.ts", name: "A", line: 2, column: 14 },
    { path: "src/d.ts", name: "D", line: 3, column: 16 },
  ]);
});

test("a class that is exported under several names is listed under its own name", () => {
  const text =
    'import { CounterActor } from "../generated/counter.js";\nexport class B extends CounterActor {}\nexport { B as A, B as default };';
  expect(find({ "src/b.ts": text })).toEqual(["src/b.ts#B is schemas/counter.ts#Counter"]);
});

test("a class is no actor when it is not exported, has no generated base, or extends itself in a cycle", () => {
  const files = {
    "src/a.ts": 'import { CounterActor } from "../generated/counter.js";\nclass A extends CounterActor {}\nexport {};',
    "src/b.ts": 'import { C } from "./c.js";\nexport class B extends C {}',
    "src/c.ts": 'import { B } from "./b.js";\nexport class C extends B {}',
    "src/d.ts":
      'import { Nowhere } from "./nowhere.js";\nexport class D extends Nowhere {}\nexport class E extends f() {}',
    "src/g.ts": 'export * from "./h.js";\nexport class G extends Array {}',
    "src/h.ts": 'export * from "./g.js";\nimport { X } from "./g.js";\nexport class H extends X {}',
  };
  expect(find(files)).toEqual([]);
});

test("files that cannot hold an actor are not parsed", () => {
  const parsed: string[] = [];
  find({ "src/plain.ts": "export const x = 1;", "src/util.ts": "// nothing extends anything\nlet y;" }, parsed);
  expect(parsed).toEqual([]);
});
