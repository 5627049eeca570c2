/**
 * Copies the ids of a lock to a schema, and the new members of the schema to the lock. A pure function. The caller
 * decides whether to write the new lock (`compile`), compare it (`--check`) or discard it (`--watch`, so that typing
 * takes no ids).
 */
import { flattenedCases } from "../model/flattened-oneof.js";
import type {
  ActorDeclaration,
  Endpoint,
  EnumValue,
  Field,
  Module,
  Parameter,
  Schema,
  Shape,
  Tags,
  TaskDeclaration,
  TupleElement,
  Type,
  TypeDeclaration,
  Variant,
} from "../model/index.js";
import { sameItems } from "../model/same-data.js";
import { type AssignedMembers, assignMembers, type DeclaredMember, type LockedMember } from "./assign-members.js";
import { AssignMemory, type KnownDeclarations } from "./assign-memory.js";
import { BlockMatcher } from "./block-matcher.js";
import { declarationKeys } from "./declaration-keys.js";
import {
  aliasEntry,
  type BlockKind,
  constructorEntry,
  emptyLock,
  type Lock,
  type LockBlock,
  type LockEntry,
  type LockParam,
  type LockParams,
  taskEntry,
} from "./lock.js";
import type { LockProblem } from "./lock-problem.js";
import { moduleName } from "./module-name.js";
import { withoutPending } from "./pending.js";
import { printName } from "./print.js";
import { isPathEnd } from "./shape-path.js";
import { typeText } from "./type-text.js";

export interface AssignedSchema {
  /** The schema with all ids and without the members that `@retired` removes. */
  readonly schema: Schema;
  readonly lock: Lock;
  readonly problems: readonly LockProblem[];
}

/** @param lock undefined if there is none yet */
export function assignIds(
  schema: Schema,
  lock: Lock = emptyLock,
  memory: AssignMemory = new AssignMemory(),
): AssignedSchema {
  const problems: LockProblem[] = [];
  const blocks = new BlockMatcher(schema.package, lock, declarationKeys(schema));
  const known = memory.knownWith(lock);
  const modules = schema.modules.map((module) =>
    reuseUnchangedModule(new ModuleIdAssigner(module, blocks, problems, known).assign(), memory),
  );
  const next = withoutPending({ blocks: blocks.finish(), accepted: lock.accepted });
  return { schema: { ...schema, modules }, lock: next, problems };
}

/** Returns the module of the previous run if no declaration has changed. */
function reuseUnchangedModule(module: Module, { modules }: AssignMemory): Module {
  const before = modules.get(module.path);
  const isSame =
    before &&
    sameItems(before.types, module.types) &&
    sameItems(before.actors, module.actors) &&
    sameItems(before.tasks, module.tasks);
  if (isSame) return before;
  modules.set(module.path, module);
  return module;
}

function optionalText(type: Type, optional: boolean): string {
  return typeText(type) + (optional ? "?" : "");
}

class ModuleIdAssigner {
  readonly #module: Module;
  readonly #name: string;
  readonly #blocks: BlockMatcher;
  readonly #problems: LockProblem[];
  readonly #known: KnownDeclarations;
  /** The numbers that `@reserved` of the declaration excludes for its members. */
  #reserved: ReadonlySet<number> = new Set();
  /** The name of the declaration whose members are being assigned. */
  #declared = "";
  /**
   * The former paths of renamed members: `Entry.expiry` -> `Entry.ttl`. The lock identifies inline shapes by such
   * paths.
   */
  readonly #renamed = new Map<string, string>();

  constructor(module: Module, blocks: BlockMatcher, problems: LockProblem[], known: KnownDeclarations) {
    this.#known = known;
    this.#module = module;
    this.#name = moduleName(module.path);
    this.#blocks = blocks;
    this.#problems = problems;
  }

  assign(): Module {
    return {
      ...this.#module,
      types: this.#module.types.map((declaration) => this.#remembered(declaration, (it) => this.#declaration(it))),
      actors: this.#module.actors.map((actor) => this.#remembered(actor, (it) => this.#actor(it))),
      tasks: this.#module.tasks.map((task) => this.#remembered(task, (it) => this.#task(it))),
    };
  }

  #remembered<D extends TypeDeclaration | ActorDeclaration | TaskDeclaration>(
    declaration: D,
    assign: (declaration: D) => D,
  ): D {
    const known = this.#known.get(declaration);
    if (known !== undefined) {
      this.#blocks.replay(known.blocks);
      return known.declaration as D;
    }
    const problems = this.#problems.length;
    const [assigned, blocks] = this.#blocks.record(() => assign(declaration));
    if (blocks !== undefined && this.#problems.length === problems) {
      this.#known.set(declaration, { declaration: assigned, blocks });
    }
    return assigned;
  }

  #declaration(declaration: TypeDeclaration): TypeDeclaration {
    const { name, shape, at, reserved } = declaration;
    this.#begin(name);
    this.#reserved = new Set(reserved?.numbers);
    if (shape.kind === "alias") {
      this.#block("alias", name, [{ name: aliasEntry, type: typeText(shape.type), tags: {}, at }]);
    }
    return { ...declaration, shape: this.#shape(shape, name) };
  }

  /** Starts a declaration. Paths begin with its name. */
  #begin(declaration: string): void {
    this.#declared = declaration;
    this.#renamed.clear();
  }

  #shape(shape: Shape, path: string): Shape {
    switch (shape.kind) {
      case "message":
        return { ...shape, fields: this.#fields("message", path, shape.fields) };
      case "oneof":
        return { ...shape, cases: this.#fields("oneof", path, shape.cases) };
      case "union":
        return { ...shape, variants: this.#variants(path, shape.variants) };
      case "enum":
        return { ...shape, values: this.#values(path, shape.values) };
      case "alias":
        return { ...shape, type: this.#type(shape.type, path) };
    }
  }

  #fields(kind: "message" | "oneof", path: string, fields: readonly Field[]): readonly Field[] {
    const members = fields.map(({ name, type, optional, tags, at }) => {
      return { name, type: optionalText(type, optional), tags, at };
    });
    // The cases of a oneof that is flattened into the message have field numbers of the message.
    const cases =
      kind === "message" ? fields.flatMap(({ type, optional }) => flattenedCases(type, optional) ?? []) : [];
    const taken = new Set(cases.flatMap(({ tags }) => tags.id ?? []));
    const ids = this.#block(kind, path, members, taken);
    return fields.flatMap((field, i) => {
      const type = this.#type(field.type, `${path}.${printName(field.name)}`);
      return field.tags.retired ? [] : [{ ...field, id: ids[i] as number, type }];
    });
  }

  #variants(path: string, variants: readonly Variant[]): readonly Variant[] {
    const members = variants.map(({ tag, type, at }) => ({ name: tag, type: typeText(type), tags: {}, at }));
    const ids = this.#block("union", path, members);
    return variants.map((variant, i) => {
      return { ...variant, id: ids[i] as number, type: this.#type(variant.type, `${path}|${printName(variant.tag)}`) };
    });
  }

  /** Returns the values with their ids. Integers are their own ids, as in protobuf. All other values get ids. */
  #values(path: string, values: readonly EnumValue[]): readonly EnumValue[] {
    if (values.every(({ value }) => typeof value === "number" && Number.isInteger(value))) {
      return this.#numericValues(path, values);
    }
    const ids = this.#block(
      "enum",
      path,
      values.map(({ name, tags = {}, at }) => ({ name, type: "", tags, at })),
    );
    return values.map((value, i) => ({ ...value, id: ids[i] as number }));
  }

  #numericValues(path: string, values: readonly EnumValue[]): readonly EnumValue[] {
    const block = this.#find("enum", path);
    const live = values.map(({ name, value, tags, aliases = [], at }) => {
      const id = Number(value);
      const known = block?.entries.find((entry) => entry.id === id && !entry.retired);
      const was = known === undefined ? [] : formerNames(known, [name, ...aliases.map((alias) => alias.name)], tags);
      if (tags?.was !== undefined && block !== undefined && known?.name !== name && !was.includes(tags.was)) {
        this.#problems.push({ kind: "wasUnknown", at, member: `${path}.${name}`, was: tags.was });
      }
      return { id, name, retired: false, type: "", was, line: 0 };
    });
    const gone = (block?.entries ?? []).filter(({ id }) => live.every((entry) => entry.id !== id));
    const entries = [...live, ...gone.map((entry) => ({ ...entry, retired: true }))];
    const next = Math.max(1, block?.next ?? 1, ...entries.map(({ id }) => id + 1));
    this.#blocks.write({ kind: "enum", name: path, module: this.#name, retired: false, id: 0, next, entries, line: 0 });
    return values.map((value) => ({ ...value, id: Number(value.value) }));
  }

  /** @param taken ids that no new member gets */
  #block(
    kind: BlockKind,
    path: string,
    members: readonly DeclaredMember[],
    taken?: ReadonlySet<number>,
  ): readonly number[] {
    const block = this.#find(kind, path);
    // Reserved numbers of a declaration do not apply to inline shapes, whose paths are longer than the name of the
    // declaration.
    const isInPlace = path !== this.#declared;
    const others = new Set([...(taken ?? []), ...(isInPlace ? [] : this.#reserved)]);
    const known = block?.entries ?? [];
    const assigned = assignMembers(path, members, known, block?.next ?? 1, this.#problems, { others, isInPlace });
    this.#noteRenames(path, assigned);
    const entries = assigned.entries.map(plainEntry);
    const { next, ids } = assigned;
    this.#blocks.write({ kind, name: path, module: this.#name, retired: false, id: 0, next, entries, line: 0 });
    return ids;
  }

  /** Returns the block of a declaration or of an inline shape, even if a member in its path has been renamed. */
  #find(kind: BlockKind, path: string): LockBlock | undefined {
    if (path === this.#declared) {
      const block = this.#blocks.findDeclared(kind, path, this.#name);
      // The inline shapes of the declaration have moved with it.
      if (block !== undefined && block.name !== path) this.#renamed.set(path, block.name);
      return block;
    }
    const found = this.#isOfRenamed(path) ? undefined : this.#blocks.find(kind, path, this.#name);
    const before = this.#pathBefore(path);
    return found ?? (before === path ? undefined : this.#blocks.find(kind, before, this.#name));
  }

  /** Returns whether the lock uses this path for a renamed member. Another member can have the name now. */
  #isOfRenamed(path: string): boolean {
    return [...this.#renamed.values()].some((before) => {
      return path.startsWith(before) && isPathEnd(path.slice(before.length));
    });
  }

  #pathBefore(path: string): string {
    for (const [now, before] of this.#renamed) {
      const rest = path.slice(now.length);
      // Longer paths come first: the former path of a member of a renamed member already contains the former name of
      // the latter.
      if (path.startsWith(now) && isPathEnd(rest)) return before + rest;
    }
    return path;
  }

  #noteRenames(path: string, { entries }: AssignedMembers<LockedMember>): void {
    for (const { name, member, from } of entries) {
      if (member === undefined || from === undefined || from.name === name) continue;
      const before = `${this.#pathBefore(path)}.${printName(from.name)}`;
      const others = [...this.#renamed];
      this.#renamed.clear();
      this.#renamed.set(`${path}.${printName(name)}`, before);
      for (const [key, value] of others) this.#renamed.set(key, value);
    }
  }

  #actor(actor: ActorDeclaration): ActorDeclaration {
    const { name, endpoints } = actor;
    this.#begin(name);
    const block = this.#blocks.find("actor", name, this.#name);
    const id = block?.id ?? this.#blocks.drawActorId(name, this.#name);
    const known = block?.entries.filter((entry) => entry.id !== 0) ?? [];
    const members = endpoints.map((endpoint) => ({ ...endpoint, type: resultText(endpoint) }));
    const assigned = assignMembers(name, members, known, block?.next ?? 1, this.#problems);
    this.#noteRenames(name, assigned);
    const construct = block?.entries.find((entry) => entry.id === 0);
    const [args, argsLock] = this.#params(`${name}()`, actor.args, construct?.params);
    const paramLocks = new Map<number, LockParams>();
    const numbered = endpoints.map((endpoint, i) => {
      const from = assigned.entries.find(({ member }) => member === i)?.from as LockEntry | undefined;
      const [params, locked] = this.#params(`${name}.${printName(endpoint.name)}`, endpoint.params, from?.params);
      paramLocks.set(i, locked);
      return { ...this.#result(endpoint, name), id: assigned.ids[i] as number, params };
    });
    const entries: LockEntry[] = [
      { id: 0, name: constructorEntry, retired: false, type: "void", was: [], params: argsLock, line: 0 },
      ...assigned.entries.map((entry) => {
        const gone = (entry.from as LockEntry | undefined)?.params ?? { next: 1, entries: [] };
        const params = entry.member === undefined ? gone : (paramLocks.get(entry.member) as LockParams);
        return { ...plainEntry(entry), params };
      }),
    ];
    this.#blocks.write({
      kind: "actor",
      name,
      module: this.#name,
      retired: false,
      id,
      next: assigned.next,
      entries,
      line: 0,
    });
    return { ...actor, id, args, endpoints: numbered.filter(({ tags }) => !tags.retired) };
  }

  #task(task: TaskDeclaration): TaskDeclaration {
    const { name, result } = task;
    this.#begin(name);
    const known = this.#blocks.find("task", name, this.#name)?.entries[0];
    // The path of the arguments is that of a constructor's.
    const path = `${name}()`;
    const [args, params] = this.#params(path, task.args, known?.params);
    const type = result === undefined ? "void" : typeText(result);
    const entry: LockEntry = { id: 0, name: taskEntry, retired: false, type, was: [], params, line: 0 };
    this.#blocks.write({
      ...{ kind: "task", name, module: this.#name, retired: false },
      ...{ id: 0, next: 1, entries: [entry], line: 0 },
    });
    return { ...task, args, ...(result !== undefined && { result: this.#type(result, `${path}->`) }) };
  }

  #result(endpoint: Endpoint, actor: string): Endpoint {
    const { result } = endpoint;
    if (result === undefined) return endpoint;
    return { ...endpoint, result: this.#type(result, `${actor}.${printName(endpoint.name)}->`) };
  }

  #params(
    path: string,
    params: readonly Parameter[],
    locked: LockParams | undefined,
  ): readonly [readonly Parameter[], LockParams] {
    const known = (locked?.entries ?? []).map((entry) => ({ ...entry, was: [] }));
    const assigned = assignMembers(path, paramMembers(params, known), known, locked?.next ?? 1, []);
    this.#noteRenames(path, assigned);
    const entries = assigned.entries.map(plainParam);
    const numbered = params.map((param, i) => {
      return {
        ...param,
        id: assigned.ids[i] as number,
        type: this.#type(param.type, `${path}.${printName(param.name)}`),
      };
    });
    return [numbered, { next: assigned.next, entries }];
  }

  /** Returns the type with ids in its inline shapes. `path` is their path in the lock. */
  #type(type: Type, path: string): Type {
    switch (type.kind) {
      case "inline":
        return { ...type, shape: this.#shape(type.shape, path) };
      case "array":
      case "set":
        return { ...type, element: this.#type(type.element, `${path}[]`) };
      case "tuple":
        return this.#tuple(type, path);
      case "map":
        return { ...type, key: this.#type(type.key, `${path}{key}`), value: this.#type(type.value, `${path}{}`) };
      case "record":
        return { ...type, value: this.#type(type.value, `${path}{}`) };
      case "nullable":
        return { ...type, inner: this.#type(type.inner, path) };
      case "port":
        return { ...type, element: this.#type(type.element, `${path}(port)`) };
      case "objectRef":
        return { ...type, element: this.#type(type.element, `${path}(value)`) };
      case "ref":
        return { ...type, args: type.args.map((arg, i) => this.#type(arg, `${path}<${i}>`)) };
      default:
        return type;
    }
  }

  #tuple(type: Extract<Type, { kind: "tuple" }>, path: string): Type {
    const elements = type.elements.map((element, i): TupleElement => {
      return { ...element, type: this.#type(element.type, `${path}[${i}]`) };
    });
    const { rest } = type;
    return { ...type, elements, ...(rest === undefined ? {} : { rest: this.#type(rest, `${path}[...]`) }) };
  }
}

/** Returns the former names of a value that is its own id. Only `@was` tells the lock about such a rename. */
function formerNames(known: LockEntry, names: readonly string[], tags: Tags | undefined): readonly string[] {
  if (names.includes(known.name)) return known.was;
  return tags?.was === known.name ? [...known.was, known.name] : [];
}

function resultText({ result, stream }: Endpoint): string {
  if (result === undefined) return "void";
  return stream ? `stream<${typeText(result)}>` : typeText(result);
}

/** A parameter whose name changes is the same parameter, because callers pass arguments by position. */
function paramMembers(params: readonly Parameter[], known: readonly LockedMember[]): readonly DeclaredMember[] {
  const live = known.filter(({ retired }) => !retired);
  return params.map(({ name, type, optional, at }, i) => {
    const text = optionalText(type, optional);
    const here = live[i];
    const renamed =
      here !== undefined &&
      here.type === text &&
      live.every((entry) => entry.name !== name) &&
      params.every((param) => param.name !== here.name);
    return { name, type: text, tags: renamed ? { was: here.name } : {}, at };
  });
}

function plainEntry({ id, name, retired, type, was }: LockedMember): LockEntry {
  return { id, name, retired, type, was, line: 0 };
}

function plainParam({ id, name, retired, type }: LockedMember): LockParam {
  return { id, name, retired, type };
}
