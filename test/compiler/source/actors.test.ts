import { expect, test } from "vitest";
import type { ActorDeclaration, Endpoint, Shape } from "../../../compiler/model/index.js";
import { readText, shapeOf, show } from "./read.js";

function actor(text: string, name: string): ActorDeclaration {
  const found = readText(text)
    .modules.flatMap(({ actors }) => actors)
    .find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`there is no actor ${name}`);
  return found;
}

function signature({ name, params, result, stream }: Endpoint): string {
  const shown = params.map((param) => `${param.name}${param.optional ? "?" : ""}: ${show(param.type)}`);
  return `${name}(${shown.join(", ")}): ${stream ? "stream " : ""}${result === undefined ? "void" : show(result)}`;
}

test("the constructor arguments and endpoints of an actor are read from its interface", () => {
  const counter = actor(
    `/** Counts. */
    export interface Counter extends Actor<[initial: Int32, step?: Int32]> {
      increment(by?: Int32): void;
      value(): Int32;
      /** Yields the value \`count\` times. */
      watch(count: Int32): Stream<Int32>;
      meet(others: Mesh<Counter, "hosts" | "gpus">, one: Counter, none: Mesh<Counter, never>): Counter[];
    }`,
    "Counter",
  );
  expect(counter.doc).toBe("Counts.");
  expect(counter.args.map(({ name, optional }) => [name, optional])).toEqual([
    ["initial", false],
    ["step", true],
  ]);
  expect(counter.endpoints.map(signature)).toEqual([
    "increment(by?: int32): void",
    "value(): int32",
    "watch(count: int32): stream int32",
    "meet(others: mesh<Counter, hosts, gpus>, one: mesh<Counter, *>, none: mesh<Counter>): mesh<Counter, *>[]",
  ]);
  expect(counter.endpoints[2]?.doc).toBe("Yields the value `count` times.");
});

test("an actor inherits endpoints and constructor arguments and may override both", () => {
  const text = `
    export interface Base extends Actor<[name: string]> { get(): string; put(value: string): void }
    export interface Named { x: Int32 }
    export interface Sub extends Base { more(): Named }
    export interface Other extends Sub, Actor<[size: Int32]> { put(value: string, twice?: boolean): void }
  `;
  const sub = actor(text, "Sub");
  expect(sub.extends).toEqual(["schemas/a.ts#Base"]);
  expect(sub.args.map(({ name }) => name)).toEqual(["name"]);
  expect(sub.endpoints.map(signature)).toEqual(["get(): string", "put(value: string): void", "more(): Named"]);
  const other = actor(text, "Other");
  expect(other.args.map(({ name }) => name)).toEqual(["size"]);
  expect(other.endpoints.map(signature)[1]).toBe("put(value: string, twice?: boolean): void");
});

test("an actor has the state that its second argument names, or inherits that of its base", () => {
  const text = `
    export interface State { count: Int32 }
    export interface Other { text: string }
    export interface Base extends Actor<[name: string], State> { get(): string }
    export interface Sub extends Base { save2(): void }
    export interface Own extends Base, Actor<[], Other> {}
    export interface Plain extends Actor<[name: string]> { save(): void; restore(): void }
  `;
  const state = (name: string) => actor(text, name).state;
  expect([state("Base"), state("Sub"), state("Own")].map((type) => type && show(type))).toEqual([
    "State",
    "State",
    "Other",
  ]);
  expect(state("Plain")).toBe(undefined);
  expect(actor(text, "Plain").endpoints.map(({ name }) => name)).toEqual(["save", "restore"]);
});

test("an actor whose bases have different states is refused unless it names its own", () => {
  const bases = `
    export interface State { count: Int32 }
    export interface Other { text: string }
    export interface First extends Actor<[], State> {}
    export interface Second extends Actor<[], Other> {}
    export interface Third extends Actor<[], State> {}
  `;
  expect(() => actor(`${bases} export interface Both extends First, Second {}`, "Both")).toThrow(
    "VC1221 cannot store the state of actor Both: First and Second have different states",
  );
  expect(actor(`${bases} export interface Both extends First, Third {}`, "Both").state).toBeDefined();
  expect(
    actor(`${bases} export interface Both extends First, Second, Actor<[], Other> {}`, "Both").state,
  ).toBeDefined();
});

test("endpoints of an actor with a state cannot be called save or restore, also inherited ones", () => {
  const state = "export interface State { count: Int32 }";
  const reserved = (owner: string, name: string) =>
    `VC1207 endpoint ${owner}.${name} has a reserved name: actors with a state have a method of this name`;
  expect(() =>
    actor(`${state} export interface One extends Actor<[], State> { save(): void; restore(): void }`, "One"),
  ).toThrow(`${reserved("One", "save")}\n${reserved("One", "restore")}`);
  expect(() =>
    actor(
      `${state} export interface One extends Actor { save(): void }
      export interface Two extends One, Actor<[], State> {}`,
      "Two",
    ),
  ).toThrow(reserved("Two", "save"));
});

test("a doc comment belongs to the member after it, even if it starts on the line of the member before", () => {
  const schema = readText(`export interface A { /** @id 5 */ x: Int32; /** @id 7 */ y: Int32, /** @id 9 */ z: Int32 }
export interface B { /**
   * @id 5
   */
  x: Int32; /**
   * @id 8
   */
  y: Int32;
} /**
 * Of C.
 */
export interface C { /** @id 6 */
  x: Int32;
  inner: { /** @id 4 */
    x: Int32;
  };
}
export enum E { /** @name P */ A = "a", /**
  @name Q */ B = "b", /** @name R */ C = "c" }`);
  const ids = (name: string) => {
    const shape = shapeOf(schema, name);
    return shape.kind === "message" ? shape.fields.map(({ tags }) => tags.id) : [];
  };
  expect([ids("A"), ids("B"), ids("C")]).toEqual([
    [5, 7, 9],
    [5, 8],
    [6, undefined],
  ]);
  const [, inner] = (shapeOf(schema, "C") as Extract<Shape, { kind: "message" }>).fields;
  expect(inner?.type).toMatchObject({ shape: { fields: [{ tags: { id: 4 } }] } });
  expect(schema.modules[0]?.types.find(({ name }) => name === "C")?.doc).toBe("Of C.");
  expect(shapeOf(schema, "E")).toMatchObject({ values: [{ wireName: "P" }, { wireName: "Q" }, { wireName: "R" }] });
});

test("a doc comment at the end of a line does not document the member on the next line", () => {
  const schema = readText("export interface A {\n  x: Int32; /** Behind x. */\n  y: Int32;\n}\n");
  const shape = shapeOf(schema, "A");
  expect(shape.kind === "message" && shape.fields.map(({ doc }) => doc)).toEqual(["", ""]);
});

test("the tags of Viceroy become endpoint options, and other tags stay in the documentation", () => {
  const { endpoints } = actor(
    `export interface Store extends Actor {
      /**
       * Reads.
       * @idempotent
       * @timeout 1.5s
       * @deprecated use fetch
       */
      get(): string;
      /** @concurrent */ put(): void; /** Removes. @id 9 */ remove(): void;
      /** @concurrent 8 */ bounded(): void;
      /** @respond @not-a-tag */
      plain(): void;
      /**
       * @respond
       * @reduce sum
       */
      ask(reply: Port<Int32>, question: string): void;
      /** @was take */
      fetch(): void;
    }`.replace("@respond @not-a-tag", "A remark about @respond in a sentence."),
    "Store",
  );
  const [get, put, remove, bounded, plain, ask, fetch] = endpoints;
  expect(get?.doc).toBe("Reads.\n@deprecated use fetch");
  expect(get?.options).toEqual({ concurrent: false, idempotent: true, respond: false, timeout: 1500 });
  expect(put?.options.concurrent).toBe(true);
  expect(bounded?.options.concurrent).toBe(8);
  expect([remove?.doc, remove?.tags]).toEqual(["Removes.", { id: 9 }]);
  expect(plain?.options.respond).toBe(false);
  expect(ask?.options).toEqual({ concurrent: false, idempotent: false, respond: true, reduce: "sum" });
  expect(ask && signature(ask)).toBe("ask(reply: port<int32>, question: string): int32");
  expect(fetch?.tags).toEqual({ was: "take" });
});
