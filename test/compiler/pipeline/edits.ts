/** Projects that are edited at random: a project as data, what an edit makes of it, and the files that it is then. */
import fc from "fast-check";
import { namespaceOf, rootName, simpleName } from "../../../shared/names/qualified-name.js";

interface Member {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly comment: string;
}

interface Declaration {
  readonly name: string;
  readonly kind: "interface" | "hidden" | "generic" | "union" | "alias" | "enum" | "actor" | "task";
  readonly comment: string;
  readonly members: readonly Member[];
}

/** By the name of the file, without its extension. */
export type Sketch = Readonly<Record<string, readonly Declaration[]>>;

export interface Edit {
  readonly what:
    | "add member"
    | "remove member"
    | "rename member"
    | "change type"
    | "change id"
    | "comment"
    | "add declaration"
    | "remove declaration"
    | "rename declaration"
    | "change kind"
    | "move"
    | "reorder"
    | "write lock";
  /** Which one, of however many there are. */
  readonly file: number;
  readonly declaration: number;
  readonly member: number;
  /** What of several things it becomes. */
  readonly choice: number;
}

const whats: readonly Edit["what"][] = [
  ...["add member", "remove member", "rename member", "change type", "change type", "change id", "comment"],
  ...["add declaration", "remove declaration", "rename declaration", "change kind", "move", "reorder", "write lock"],
] as const as readonly Edit["what"][];

const index = fc.nat({ max: 1000 });

export const edit: fc.Arbitrary<Edit> = fc.record({
  what: fc.constantFrom(...whats),
  file: index,
  declaration: index,
  member: index,
  choice: index,
});

const member = (name: string, type: string): Member => ({ name, type, optional: false, comment: "" });

export const start: Sketch = {
  a: [
    {
      name: "Entry",
      kind: "interface",
      comment: "One.",
      members: [member("id", "Int32"), member("kind", inlineEnum(0))],
    },
    {
      name: "Other",
      kind: "interface",
      comment: "",
      members: [member("entry", "Entry"), member("at", "{ x: number }[]")],
    },
    { name: "Page", kind: "generic", comment: "", members: [member("items", "T[]"), member("first", "Entry")] },
    { name: "Other.Row", kind: "interface", comment: "", members: [member("entry", "Entry"), member("up", "Other")] },
    { name: "Other.Level", kind: "enum", comment: "", members: [member("low", "")] },
  ],
  b: [
    { name: "Tree", kind: "interface", comment: "", members: [member("left", "Entry"), member("page", "Page<Other>")] },
    { name: "Choice", kind: "union", comment: "", members: [member("yes", "Entry"), member("no", "string")] },
    { name: "Store", kind: "actor", comment: "Keeps them.", members: [member("get", "Tree"), member("put", "Choice")] },
    { name: "Grow", kind: "task", comment: "", members: [member("tree", "Tree"), member("by", "{ x: number }")] },
  ],
  c: [{ name: "Level", kind: "enum", comment: "", members: [member("low", ""), member("high", "")] }],
};

function inlineEnum(choice: number): string {
  return choice % 2 === 0 ? '"red" | "green"' : '"one" | "two" | "three"';
}

const memberNames = ["id", "kind", "name", "list", "value", "entry", "w", "at", "toString", "first"];
/** Among them names that Viceroy's own, globals, and names of what is written in place would have; some in namespaces. */
const typeNames = [
  "Leaf",
  "Entry.Part",
  "Shop.Codec",
  "Node",
  "Codec",
  "Map",
  "Writer",
  "EntryKind",
  "OtherAtItem",
  "Tree2",
  "EntryGenerated",
  "Shop.Deep.Entry",
  "Int32",
];
const kinds = ["interface", "hidden", "generic", "union", "alias", "enum", "interface"] as const;

const plainTypes = [
  ...["string", "Int32", "boolean", "Date", "Uint8Array", "number[]", "Map<string, Uint64>", "string | null"],
  ...["{ x: number; y?: string }", "{ x: number }[]", "[a: string, b?: Int32]", "Record<string, number[]>"],
];

/** Whatever the number says: something plain, an enum written in place, something of the project. */
function typeFor(choice: number, sketch: Sketch): string {
  const declared = Object.values(sketch)
    .flat()
    .filter(({ kind }) => kind !== "actor" && kind !== "task" && kind !== "hidden");
  const target = declared[choice % Math.max(1, declared.length)];
  if (target === undefined || choice % 3 === 0) return plainTypes[choice % plainTypes.length] as string;
  if (choice % 7 === 1) return inlineEnum(choice);
  const name = target.kind === "generic" ? `${target.name}<${choice % 2 === 0 ? "string" : "Int32[]"}>` : target.name;
  return [name, `${name}[]`, `${name} | null`, `Map<string, ${name}>`, `{ inside?: ${name} }`][choice % 5] as string;
}

/** The project after an edit; the same where there is nothing to edit. */
export function edited(sketch: Sketch, { what, file, declaration, member: which, choice }: Edit): Sketch {
  const names = Object.keys(sketch);
  const name = names[file % names.length] as string;
  const declarations = sketch[name] as readonly Declaration[];
  const at = declarations.length === 0 ? 0 : declaration % declarations.length;
  const target = declarations[at];
  const withTarget = (change: Partial<Declaration>): Sketch =>
    target === undefined ? sketch : { ...sketch, [name]: declarations.with(at, { ...target, ...change }) };
  const members = target?.members ?? [];
  const i = members.length === 0 ? 0 : which % members.length;
  const withMember = (change: Partial<Member>): Sketch =>
    members.length === 0 ? sketch : withTarget({ members: members.with(i, { ...(members[i] as Member), ...change }) });
  const isFree = (wanted: string) => members.every((it) => it.name !== wanted);
  const memberName = memberNames.find((free, n) => n >= choice % 6 && isFree(free)) ?? `more${choice}`;
  const freeName = typeNames.find(
    (free, n) =>
      n >= choice % 11 &&
      !(isFunction(target) && what === "rename declaration" && free.includes(".")) &&
      !Object.values(sketch)
        .flat()
        .some((it) => it.name === free),
  );
  switch (what) {
    case "add member": {
      const added = { ...member(memberName, typeFor(which, sketch)), optional: choice % 3 === 0 };
      return withTarget({ members: members.toSpliced(i, 0, added) });
    }
    case "remove member":
      return withTarget({ members: members.toSpliced(i, 1) });
    case "rename member":
      return withMember({ name: memberName, comment: choice % 2 === 0 ? `@was ${members[i]?.name}` : "" });
    case "change type":
      return withMember({ type: typeFor(choice, sketch) });
    case "change id":
      return withMember({ comment: `@id ${(choice % 20) + 1}` });
    case "comment":
      return choice % 2 === 0
        ? withTarget({ comment: `Said ${choice} times.\n * More.` })
        : withMember({ comment: "Said." });
    case "add declaration": {
      if (freeName === undefined) return sketch;
      const kind = kinds[choice % kinds.length] as Declaration["kind"];
      const added = { name: freeName, kind, comment: "", members: [member("value", typeFor(which, sketch))] };
      const into = choice % 5 === 0 ? `new${choice % 3}` : name;
      return { ...sketch, [into]: (sketch[into] ?? []).toSpliced(at, 0, added) };
    }
    case "remove declaration": {
      const rest = declarations.toSpliced(at, 1);
      if (rest.length > 0) return { ...sketch, [name]: rest };
      return Object.fromEntries(Object.entries(sketch).filter(([other]) => other !== name || names.length === 1));
    }
    case "rename declaration":
      return target === undefined || freeName === undefined ? sketch : renamed(sketch, target.name, freeName);
    case "change kind":
      return isFunction(target) ? sketch : withTarget({ kind: kinds[choice % kinds.length] as Declaration["kind"] });
    case "move": {
      const into = names[choice % names.length] as string;
      if (target === undefined || into === name) return sketch;
      return { ...sketch, [name]: declarations.toSpliced(at, 1), [into]: [...(sketch[into] ?? []), target] };
    }
    case "reorder":
      return { ...sketch, [name]: [...declarations.slice(at), ...declarations.slice(0, at)] };
    case "write lock":
      return sketch;
  }
}

/** Returns whether a declaration is an actor or a task, which types cannot contain and which namespaces cannot. */
function isFunction(declaration: Declaration | undefined): boolean {
  return declaration?.kind === "actor" || declaration?.kind === "task";
}

function renamed(sketch: Sketch, from: string, to: string): Sketch {
  const word = new RegExp(`\\b${from}\\b`, "g");
  const declarations = (own: readonly Declaration[]) =>
    own.map((it) => ({
      ...it,
      name: it.name === from || it.name.startsWith(`${from}.`) ? to + it.name.slice(from.length) : it.name,
      members: it.members.map((part) => ({ ...part, type: part.type.replace(word, to) })),
    }));
  return Object.fromEntries(Object.entries(sketch).map(([file, own]) => [file, declarations(own)]));
}

/** The schema files, by their paths. */
export function filesOf(sketch: Sketch): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(sketch).map((file) => [`schemas/${file}.ts`, textOf(file, sketch)]));
}

function textOf(file: string, sketch: Sketch): string {
  const own = sketch[file] as readonly Declaration[];
  const words = new Set(own.flatMap(({ members }) => members.flatMap(({ type }) => type.match(/\w+/g) ?? [])));
  const isOwn = new Set(own.map(({ name }) => rootName(name)));
  const imports = Object.entries(sketch).flatMap(([other, declarations]) => {
    const roots = new Set(declarations.map(({ name }) => rootName(name)));
    const names = [...roots].filter((name) => words.has(name) && !isOwn.has(name));
    return other === file || names.length === 0 ? [] : [`import type { ${names.join(", ")} } from "./${other}.js";`];
  });
  const declared = new Set(
    Object.values(sketch)
      .flat()
      .map(({ name }) => name),
  );
  const vocabulary = ["Actor", "Int32", "Task", "Uint64"].filter((word) => !declared.has(word));
  return [
    `import type { ${vocabulary.join(", ")} } from "viceroy/schema";`,
    ...imports,
    ...own.map(declarationText),
  ].join("\n\n");
}

function declarationText({ name, ...rest }: Declaration): string {
  const namespace = namespaceOf(name);
  const text = shapeText({ ...rest, name: simpleName(name) });
  return namespace === "" ? text : `export namespace ${namespace} {\n${text}\n}`;
}

function shapeText({ name, kind, comment, members }: Declaration): string {
  const doc = comment === "" ? "" : `/** ${comment} */\n`;
  const fields = members.map(
    (part) => `  ${docOf(part)}${part.name}${part.optional ? "?" : ""}: ${part.type || "string"};`,
  );
  switch (kind) {
    case "interface":
      return `${doc}export interface ${name} {\n${fields.join("\n")}\n}`;
    case "hidden":
      return `${doc}interface ${name} {\n${fields.join("\n")}\n}`;
    case "generic":
      return `${doc}export interface ${name}<T> {\n  own?: T;\n${fields.join("\n")}\n}`;
    case "union": {
      const variants = members.map((part) => `{ is: "${part.name}"; value: ${part.type || "string"} }`);
      return `${doc}export type ${name} = ${variants.join(" | ") || "string"};`;
    }
    case "alias":
      return `${doc}export type ${name} = ${members[0]?.type || "string"};`;
    case "enum":
      return `${doc}export enum ${name} {\n${members.map((part) => `  ${docOf(part)}${part.name} = "${part.name}",`).join("\n")}\n}`;
    case "actor": {
      const endpoints = members.map(
        (part) => `  ${docOf(part)}${part.name}(by: ${part.type || "string"}): ${part.type || "string"};`,
      );
      return `${doc}export interface ${name} extends Actor<[size: number]> {\n${endpoints.join("\n")}\n}`;
    }
    case "task": {
      const args = members.map((part) => `${part.name}: ${part.type || "string"}`);
      return `${doc}export interface ${name} extends Task<[${args.join(", ")}], ${members[0]?.type || "void"}> {}`;
    }
  }
}

function docOf({ comment }: Member): string {
  return comment === "" ? "" : `/** ${comment} */ `;
}
