/**
 * Reads schema files into the model: all exported declarations, and the declarations that they reach. One run reports
 * all problems of a schema.
 */
import { isNested, simpleName } from "../../../shared/names/qualified-name.js";
import type { Diagnostic } from "../../diagnostics/index.js";
import type {
  ActorDeclaration,
  DeclarationKey,
  EnumAlias,
  EnumValue,
  Field,
  Module,
  Shape,
  TaskDeclaration,
  Type,
  TypeDeclaration,
} from "../../model/index.js";
import { bind, substituteShape } from "../../model/resolve.js";
import { sameItems } from "../../model/same-data.js";
import type { SourceDeclaration, SourceMember, SourceReference, SourceType } from "../type-source.js";
import { type ActorReaderContext, isActorBase, readActor } from "./actors.js";
import { utilities } from "./builtins.js";
import type { FileScope, ReadContext } from "./context.js";
import { type MessageContext, readInherited, readIntersection, readObject, readOneof } from "./messages.js";
import { readMemberTags, readTags } from "./tags.js";
import { isTaskBase, readTask } from "./tasks.js";
import { readType } from "./types.js";
import { readUnion } from "./unions.js";

/** The result of reading one declaration. It is valid as long as the signature of its file is the same. */
interface KnownDeclaration {
  readonly signature: string;
  type?: TypeDeclaration | undefined;
  actor?: ActorDeclaration | undefined;
  task?: TaskDeclaration | undefined;
  diagnostics: readonly Diagnostic[];
  /** The declarations to which this one refers. */
  readonly reached: Set<DeclarationKey>;
}

/** The results that one reading of a source keeps for the next. */
export interface ReadMemory {
  readonly declarations: Map<DeclarationKey, KnownDeclaration>;
  modules: ReadonlyMap<string, Module>;
}

export class SchemaReader implements MessageContext, ActorReaderContext {
  readonly #context: ReadContext;
  readonly #memory: ReadMemory;
  /** The declarations of the schema, with the result of reading each. */
  readonly #read = new Map<DeclarationKey, KnownDeclaration>();
  /** The declarations that are being read, the innermost last. */
  readonly #reading: KnownDeclaration[] = [];
  readonly #isActor = new Map<DeclarationKey, boolean>();
  readonly #isTask = new Map<DeclarationKey, boolean>();
  readonly #isTypeFunction = new Map<DeclarationKey, boolean>();
  readonly #queue: DeclarationKey[] = [];

  constructor(context: ReadContext, memory: ReadMemory) {
    this.#context = context;
    this.#memory = memory;
  }

  /** Returns the model of all files, sorted by path. */
  read(): readonly Module[] {
    const { source } = this.#context;
    const files = source.files();
    for (const file of files) this.#readExported(file);
    // Reading a declaration adds the declarations that it reaches to the queue.
    for (let key = this.#queue.pop(); key !== undefined; key = this.#queue.pop()) this.#type(key);
    for (const { diagnostics } of this.#read.values()) this.#context.note(...diagnostics);
    const modules = files.map((path) => this.#module(path));
    this.#memory.modules = new Map(modules.map((module) => [module.path, module]));
    return modules;
  }

  /**
   * Returns the model of a file. If nothing in it has changed, the result is the same object as in the previous
   * reading.
   */
  #module(path: string): Module {
    const keys = [...new Set(this.#context.source.declarations(path).map(({ key }) => key))];
    const types = keys.flatMap((key) => this.#read.get(key)?.type ?? []);
    const actors = keys.flatMap((key) => this.#read.get(key)?.actor ?? []);
    const tasks = keys.flatMap((key) => this.#read.get(key)?.task ?? []);
    const before = this.#memory.modules.get(path);
    const isSame =
      before !== undefined &&
      sameItems(before.types, types) &&
      sameItems(before.actors, actors) &&
      sameItems(before.tasks, tasks);
    return isSame ? before : { path, types, actors, tasks };
  }

  /** Reads a declaration, or returns the known result if the file's signature has not changed. */
  #readOnce(
    key: DeclarationKey,
    read: (declaration: SourceDeclaration, known: KnownDeclaration) => void,
  ): KnownDeclaration | undefined {
    const already = this.#read.get(key);
    if (already !== undefined) return already;
    const declaration = this.#context.source.declaration(key);
    if (declaration === undefined) return undefined;
    const signature = this.#context.source.signature(declaration.file);
    const before = this.#memory.declarations.get(key);
    if (before?.signature === signature) {
      this.#read.set(key, before);
      this.#queue.push(...before.reached);
      return before;
    }
    const known: KnownDeclaration = { signature, diagnostics: [], reached: new Set() };
    this.#read.set(key, known);
    this.#reading.push(known);
    known.diagnostics = this.#context.collect(() => read(declaration, known));
    this.#reading.pop();
    this.#memory.declarations.set(key, known);
    return known;
  }

  #readExported(file: string): void {
    const scope = this.#context.scope(file);
    const seen = new Set<string>();
    for (const declaration of this.#context.source.declarations(file)) {
      const { key, kind, name, exported } = declaration;
      if (kind === "class" || kind === "other") {
        if (exported) scope.report(declaration, "VC1009", { name, what: declaration.what ?? "class" });
      } else if (seen.has(name)) {
        scope.report(declaration, "VC1201", { name });
      } else if (this.isTask(key)) {
        if (isNested(name)) scope.report(declaration, "VC1228", { name, simple: simpleName(name) });
        else if (exported) this.#task(key);
        else scope.report(declaration, "VC1222", { name });
      } else if (this.isActor(key)) {
        if (isNested(name)) scope.report(declaration, "VC1219", { name, simple: simpleName(name) });
        else if (exported) this.actor(key);
        else scope.report(declaration, "VC1203", { name });
      } else if (exported) {
        this.#type(key);
      }
      if (kind !== "other") seen.add(name);
    }
  }

  isActor(key: DeclarationKey): boolean {
    const known = this.#isActor.get(key);
    if (known !== undefined) return known;
    // This answer is used while the interface is being checked: an interface that extends itself is not an actor.
    this.#isActor.set(key, false);
    const declaration = this.#context.source.declaration(key);
    const found =
      declaration?.kind === "interface" &&
      !this.isTask(key) &&
      declaration.heritage.some(
        (base) => isActorBase(base) || (base.kind === "reference" && base.key !== undefined && this.isActor(base.key)),
      );
    this.#isActor.set(key, found);
    return found;
  }

  /** An interface that extends a task is one, too, and is then reported. */
  isTask(key: DeclarationKey): boolean {
    const known = this.#isTask.get(key);
    if (known !== undefined) return known;
    this.#isTask.set(key, false);
    const declaration = this.#context.source.declaration(key);
    const found =
      declaration?.kind === "interface" &&
      declaration.heritage.some(
        (base) => isTaskBase(base) || (base.kind === "reference" && base.key !== undefined && this.isTask(base.key)),
      );
    this.#isTask.set(key, found);
    return found;
  }

  #task(key: DeclarationKey): void {
    this.#readOnce(key, (declaration, known) => {
      known.task = readTask(declaration, this.#context.scope(declaration.file), this);
    });
  }

  actor(key: DeclarationKey): ActorDeclaration | undefined {
    return this.#readOnce(key, (declaration, known) => {
      const scope = this.#context.scope(declaration.file);
      if (declaration.typeParameters.length > 0) scope.report(declaration, "VC1204", { name: declaration.name });
      else known.actor = readActor(declaration, scope, this);
    })?.actor;
  }

  /** Returns a type. While the type itself is being read, the result is undefined. */
  #type(key: DeclarationKey): TypeDeclaration | undefined {
    if (this.isActor(key) || this.isTask(key) || this.isTypeFunction(key)) return undefined;
    return this.#readOnce(key, (declaration, known) => {
      const scope = this.#context.scope(declaration.file);
      const { doc, tags } = readTags(declaration.comment, "type", scope);
      known.type = {
        key,
        name: declaration.name,
        exported: declaration.exported,
        doc,
        ...(tags.reserved !== undefined && { reserved: tags.reserved }),
        typeParameters: declaration.typeParameters.map((parameter) => parameter.name),
        shape: this.#shape(declaration, scope),
        at: scope.at(declaration),
      };
    })?.type;
  }

  #shape(declaration: SourceDeclaration, scope: FileScope): Shape {
    const { kind, name, heritage, members, type } = declaration;
    if (kind === "enum") return this.#enum(declaration, scope);
    if (kind === "interface") {
      const own = readObject(members, scope, name, this);
      if (heritage.length === 0 || own.kind !== "message") return own;
      return { kind: "message", fields: readInherited(heritage, own.fields, scope, name, this) };
    }
    if (type === undefined) return { kind: "message", fields: [] };
    const read = readType(type, scope, name, this);
    return read.kind === "inline" ? read.shape : { kind: "alias", type: read };
  }

  #enum({ name, values }: SourceDeclaration, scope: FileScope): Shape {
    const read = new Map<string | number, EnumValue>();
    for (const member of values) {
      const { value } = member;
      const { doc, tags, wireName } = readMemberTags(member, "value", scope);
      if (value === undefined || member.name === "") {
        scope.report(member, "VC1123", { owner: name, name: member.name });
        continue;
      }
      const hasTags = Object.keys(tags).length > 0;
      const alias: EnumAlias = {
        name: member.name,
        ...(wireName !== undefined && { wireName }),
        doc,
        ...(hasTags && { tags }),
        at: scope.at(member),
      };
      const known = read.get(value);
      if (known === undefined) read.set(value, { ...alias, value, id: 0 });
      else read.set(value, { ...known, aliases: [...(known.aliases ?? []), alias] });
    }
    return { kind: "enum", origin: "enum", values: [...read.values()] };
  }

  isTypeFunction(key: DeclarationKey): boolean {
    const known = this.#isTypeFunction.get(key);
    if (known !== undefined) return known;
    this.#isTypeFunction.set(key, false);
    const { kind, type, typeParameters = [] } = this.#context.source.declaration(key) ?? {};
    const found = kind === "alias" && typeParameters.length > 0 && type !== undefined && this.#isComputed(type);
    this.#isTypeFunction.set(key, found);
    return found;
  }

  /** Returns whether a part of a type can be resolved only when the type parameters are known. */
  #isComputed(type: SourceType): boolean {
    switch (type.kind) {
      case "computed":
        return this.#context.source.expand(type.handle) === undefined;
      case "reference": {
        const isFunction =
          (type.origin === "global" && utilities.has(type.name)) ||
          (type.key !== undefined && this.isTypeFunction(type.key));
        if (isFunction && type.handle !== undefined) return this.#context.source.expand(type.handle) === undefined;
        return type.args.some((arg) => this.#isComputed(arg));
      }
      case "array":
        return this.#isComputed(type.element);
      case "tuple":
        return type.elements.some((element) => this.#isComputed(element.type));
      case "union":
      case "intersection":
        return type.types.some((part) => this.#isComputed(part));
      case "object":
        return type.members.some((member) => member.type !== undefined && this.#isComputed(member.type));
      default:
        return false;
    }
  }

  fillArguments(reference: SourceReference, scope: FileScope): readonly Type[] {
    const declaration = this.#context.source.declaration(reference.key as DeclarationKey);
    const parameters = declaration?.typeParameters ?? [];
    if (declaration === undefined || parameters.length === 0) return [];
    const filled = new Map<string, Type>();
    for (const [i, { name, defaultType: byDefault }] of parameters.entries()) {
      const given = reference.args[i];
      if (given !== undefined) filled.set(name, readType(given, scope, `${reference.name}<${name}>`, this));
      else if (byDefault !== undefined) {
        const inside = this.#context.scope(declaration.file);
        const shape: Shape = { kind: "alias", type: readType(byDefault, inside, `${reference.name}<${name}>`, this) };
        const bound = substituteShape(shape, filled);
        if (bound.kind === "alias") filled.set(name, bound.type);
      }
    }
    return [...filled.values()];
  }

  reach(reference: SourceReference, scope: FileScope): boolean {
    const key = reference.key as DeclarationKey;
    const declaration = this.#context.source.declaration(key);
    if (declaration === undefined) return false;
    const { kind, name, typeParameters } = declaration;
    if (kind === "class") {
      scope.report(reference, "VC1103", { name });
      return false;
    }
    if (kind === "other") {
      const hint = "Name an interface or a type.";
      scope.report(reference, "VC1104", { type: name, reason: `it is a ${declaration.what ?? "value"}`, hint });
      return false;
    }
    // An actor that cannot be referred to is reported at its declaration.
    if (this.isActor(key)) return declaration.exported && typeParameters.length === 0 && !isNested(name);
    this.#reading.at(-1)?.reached.add(key);
    if (!this.#read.has(key)) this.#queue.push(key);
    return true;
  }

  fieldsOf(type: Type): readonly Field[] | undefined {
    if (type.kind === "inline") return type.shape.kind === "message" ? type.shape.fields : undefined;
    if (type.kind !== "ref") return undefined;
    const declaration = this.#type(type.target);
    // The type refers to itself while it is being read. The compiler has reported this.
    if (declaration === undefined) return [];
    const shape = substituteShape(declaration.shape, bind(declaration, type.args));
    if (shape.kind === "message") return shape.fields;
    return shape.kind === "alias" ? this.fieldsOf(shape.type) : undefined;
  }

  object(members: readonly SourceMember[], scope: FileScope, owner: string): Shape {
    return readObject(members, scope, owner, this);
  }

  union(type: SourceType & { readonly kind: "union" }, scope: FileScope, owner: string): Type {
    return readUnion(type, scope, owner, this);
  }

  intersection(type: SourceType & { readonly kind: "intersection" }, scope: FileScope, owner: string): Type {
    return readIntersection(type, scope, owner, this);
  }

  oneof(type: SourceReference, scope: FileScope, owner: string): Type {
    return readOneof(type, scope, owner, this);
  }

  literals(type: SourceType, scope: FileScope): readonly (string | number)[] | undefined {
    switch (type.kind) {
      case "literal":
        return typeof type.value === "boolean" ? undefined : [type.value];
      case "union": {
        const parts = type.types.map((part) => this.literals(part, scope));
        return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
      }
      case "computed":
        return this.#literalsOfComputed(type.handle, scope);
      case "reference":
        if (type.origin === "global" && utilities.has(type.name) && type.handle !== undefined) {
          return this.#literalsOfComputed(type.handle, scope);
        }
        return type.key === undefined || type.args.length > 0 ? undefined : this.#literalsOf(type.key);
      default:
        return undefined;
    }
  }

  #literalsOfComputed(handle: number, scope: FileScope): readonly (string | number)[] | undefined {
    const expanded = this.#context.source.expand(handle);
    return expanded === undefined || expanded.kind === "computed" ? undefined : this.literals(expanded, scope);
  }

  #literalsOf(key: DeclarationKey): readonly (string | number)[] | undefined {
    const declaration = this.#context.source.declaration(key);
    if (declaration?.kind === "enum") {
      const values = declaration.values.map(({ value }) => value);
      return values.every((value) => value !== undefined) ? values : undefined;
    }
    if (declaration?.kind !== "alias" || declaration.type === undefined || this.#resolving.has(key)) return undefined;
    this.#resolving.add(key);
    const found = this.literals(declaration.type, this.#context.scope(declaration.file));
    this.#resolving.delete(key);
    return found;
  }

  /** Aliases whose literals are being collected. An alias may refer to itself, so the search stops at these. */
  readonly #resolving = new Set<DeclarationKey>();
}
