import { flatName } from "../../shared/names/qualified-name.js";
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import type { BlockKind, Lock, LockEntry } from "../lock/index.js";
import { packageOfPath } from "../model/imported-path.js";
import {
  type Bindings,
  bind,
  type EnumValue,
  type Field,
  indexSchema,
  instantiate,
  type Module,
  type Schema,
  type SchemaIndex,
  type Shape,
  type Type,
  type TypeDeclaration,
  typeKey,
} from "../model/index.js";
import { outputPath, withoutExtension } from "../model/schema-paths.js";
import type {
  CapnpEnum,
  CapnpEnumValue,
  CapnpFile,
  CapnpMember,
  CapnpSchemaType,
  CapnpStruct,
} from "./capnp-schema.js";
import { RetiredMembers } from "./retired-members.js";
import {
  numericEnumType,
  plainStructMember,
  type SlotType,
  scalarType,
  slotType,
  structMember,
  voidType,
} from "./slot-type.js";
import { holdsHandle } from "./slot-type-of.js";
import { memberName, typeName, typeWord, uniqueName } from "./spelling.js";
import { layOutStruct } from "./struct-layout.js";
import { CapnpTypeNames } from "./type-names.js";
import { wellKnownTypes } from "./well-known.js";

export interface CapnpLowerInput {
  readonly schema: Schema;
  readonly lock: Lock;
  /** The lock before this run, or undefined if there was none. */
  readonly previousLock?: Lock | undefined;
  readonly schemaRoot: string;
  /** The locks of the packages from which the schema imports types, by package. */
  readonly importedLocks?: ReadonlyMap<string, Lock> | undefined;
}

export interface LoweredCapnp {
  readonly files: readonly CapnpFile[];
  readonly diagnostics: readonly Diagnostic[];
}

export function lowerToCapnp(input: CapnpLowerInput): LoweredCapnp {
  return new CapnpLowering(input).run();
}

/**
 * The location at which the structs of an inline type are created: the file and struct that contain them, their name,
 * and their path in the lock.
 */
interface LoweringSite {
  readonly file: CapnpFile;
  readonly parent: CapnpStruct | undefined;
  /** The simple name, without the names of the containing structs: `KeepersEntry`. */
  readonly name: string;
  readonly lockPath: string;
  /** The type arguments of the generic declaration that contains the type. */
  readonly bindings?: Bindings;
}

const noLayout = { dataWords: 0, pointerWords: 0, slots: [] };

class CapnpLowering {
  readonly #index: SchemaIndex;
  readonly #remembered: RetiredMembers;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #files = new Map<Module, CapnpFile>();
  readonly #structs = new Map<string, CapnpStruct>();
  readonly #enums = new Map<string, CapnpEnum>();
  /** The types of aliases that are not structs. An alias is `open` while its type is being lowered. */
  readonly #aliases = new Map<string, SlotType | "open">();
  readonly #names: CapnpTypeNames;
  /** The lock paths of inline shapes in type arguments. */
  readonly #lockPaths = new WeakMap<Type, string>();

  constructor({ schema, lock, previousLock: before, schemaRoot, importedLocks }: CapnpLowerInput) {
    this.#index = indexSchema(schema);
    this.#names = new CapnpTypeNames(this.#index, (module) => this.#fileOf(module));
    this.#remembered = new RetiredMembers(this.#index, lock, before, importedLocks);
    for (const module of schema.modules) {
      const path = `capnp/${withoutExtension(outputPath(module.path, schemaRoot))}`;
      this.#files.set(module, { path, module: module.path, types: [] });
    }
    for (const module of schema.imported ?? []) {
      const path = `capnp/packages/${module.package}/${withoutExtension(module.output)}`;
      this.#files.set(module, { path, module: module.path, types: [] });
    }
  }

  run(): LoweredCapnp {
    const { modules, imported = [] } = this.#index.schema;
    // Declared names are taken first, so that derived names avoid them.
    for (const module of [...modules, ...imported]) {
      const names = this.#names.namesIn(this.#fileOf(module));
      for (const { name, typeParameters } of module.types) if (typeParameters.length === 0) names.add(typeName(name));
    }
    for (const module of modules) {
      for (const declaration of module.types) if (declaration.typeParameters.length === 0) this.#declare(declaration);
    }
    const files = [...this.#files.values()].filter(({ types }) => types.length > 0);
    for (const { types } of files) types.forEach(layOutAll);
    // Warnings about other packages concern their authors.
    const diagnostics = this.#diagnostics.filter(
      ({ file, severity }) => severity === "error" || packageOfPath(file) === "",
    );
    return { files, diagnostics };
  }

  #fileOf(module: Module): CapnpFile {
    return this.#files.get(module) as CapnpFile;
  }

  /**
   * Creates the struct or enumeration of every declaration that can be a message. Aliases of other declarations use the
   * struct of their target.
   */
  #declare(declaration: TypeDeclaration): void {
    const ref: Type = { kind: "ref", target: declaration.key, args: [] };
    if (holdsHandle(ref, this.#index)) return;
    const { shape } = declaration;
    if (shape.kind === "enum") this.#enumOf(ref, shape);
    else if (shape.kind !== "alias" || isStruct(withoutNull(shape.type))) this.#structOf(ref);
    else if (declaration.exported && !this.#isDeclared(shape.type)) this.#aliasStruct(ref);
  }

  /** Returns whether the type is a reference to a declaration. */
  #isDeclared(type: Type): boolean {
    const inner = withoutNull(type);
    return inner.kind === "ref";
  }

  // Types.

  #type(type: Type, context: LoweringSite): SlotType {
    if (holdsHandle(type, this.#index)) return slotType(voidType);
    switch (type.kind) {
      case "scalar":
        return slotType(scalarType(type.scalar));
      case "typedArray":
        return slotType({ kind: "typedArray", element: type.element });
      case "array":
      case "set": {
        const element = this.#element(type.element, siteBelow(context, "Item", "[]"));
        return slotType({ kind: "list", element, as: type.kind });
      }
      case "map":
        return this.#map(type.key, type.value, "map", context);
      case "record":
        return this.#map({ kind: "scalar", scalar: "string" }, type.value, "record", context);
      case "nullable":
        return { ...this.#type(type.inner, context), nullable: true };
      case "tuple":
        return this.#tuple(type, context);
      case "ref":
        return this.#reference(type, context);
      case "inline":
        return this.#inline(type, context);
      case "wellKnown": {
        const found = wellKnownTypes[type.name];
        return typeof found === "string" ? slotType({ kind: "json", absent: found, type }) : this.#type(found, context);
      }
      default:
        return slotType(voidType);
    }
  }

  #element(type: Type, context: LoweringSite): CapnpSchemaType {
    const { type: inner, nullable } = this.#type(type, context);
    if (!nullable) return inner;
    const target = this.#newStruct({ ...context, name: `Maybe${context.name}` }, { shape: "nullable", doc: "" });
    target.members = [plainStructMember("null", undefined, voidType), plainStructMember("value", "value", inner)];
    return { kind: "nullable", inner, target };
  }

  #map(key: Type, value: Type, as: "map" | "record", context: LoweringSite): SlotType {
    const entryContext = { ...context, name: `${context.name}Entry` };
    const keySlot = this.#type(key, siteBelow(context, "Key", "{key}"));
    const valueSlot = this.#type(value, siteBelow(context, "Value", "{}"));
    const target = this.#newStruct(entryContext, { shape: "entry", doc: "" });
    target.members = [
      structMember("key", "key", keySlot, false, ""),
      structMember("value", "value", valueSlot, false, ""),
    ];
    return slotType({ kind: "list", element: { kind: "struct", target }, as });
  }

  #tuple(type: Extract<Type, { kind: "tuple" }>, context: LoweringSite): SlotType {
    const target = this.#newStruct(context, { shape: "tuple", doc: "", rest: type.rest !== undefined });
    this.#fillTuple(target, type, context);
    return slotType({ kind: "struct", target });
  }

  #fillTuple(target: CapnpStruct, type: Extract<Type, { kind: "tuple" }>, context: LoweringSite): void {
    const names = new Set<string>();
    const members = type.elements.map((element, i) => {
      const name = uniqueName(memberName(element.name ?? `item${i + 1}`), names, i + 1);
      const inside = { ...context, parent: target, name: typeWord(name), lockPath: `${context.lockPath}[${i}]` };
      return structMember(name, element.name ?? `item${i + 1}`, this.#type(element.type, inside), element.optional, "");
    });
    if (type.rest !== undefined) {
      const name = uniqueName("rest", names);
      const inside = { ...context, parent: target, name: typeWord(name), lockPath: `${context.lockPath}[...]` };
      members.push(structMember(name, name, slotType(arrayOf(this.#element(type.rest, inside))), false, ""));
    }
    target.members = members;
  }

  #reference(type: Extract<Type, { kind: "ref" }>, context: LoweringSite): SlotType {
    type.args.forEach((arg, i) => {
      this.#rememberPaths(arg, `${context.lockPath}<${i}>`);
    });
    const shape = instantiate(this.#index.type(type.target), type.args);
    if (shape.kind === "enum") return slotType(this.#enumOf(type, shape));
    if (shape.kind !== "alias") return slotType({ kind: "struct", target: this.#structOf(type) });
    const inner = withoutNull(shape.type);
    if (isStruct(inner)) {
      return { type: { kind: "struct", target: this.#structOf(type) }, nullable: inner !== shape.type };
    }
    return this.#alias(type, shape.type);
  }

  /** Returns the type of an alias. A recursive alias becomes a struct. */
  #alias(ref: Extract<Type, { kind: "ref" }>, type: Type): SlotType {
    const key = typeKey(ref);
    const known = this.#aliases.get(key);
    if (known === "open") return slotType({ kind: "struct", target: this.#aliasStruct(ref) });
    if (known !== undefined) return known;
    this.#aliases.set(key, "open");
    const declaration = this.#index.type(ref.target);
    const file = this.#fileOf(this.#index.moduleOf(ref.target));
    const context = { file, parent: undefined, name: this.#names.nameOf(ref), lockPath: declaration.name };
    const found = this.#type(type, context);
    this.#aliases.set(key, found);
    return found;
  }

  /** Returns the struct of an alias. */
  #aliasStruct(ref: Extract<Type, { kind: "ref" }>): CapnpStruct {
    const key = `alias ${typeKey(ref)}`;
    const known = this.#structs.get(key);
    if (known !== undefined) return known;
    const target = this.#declaredStruct(ref, "alias");
    this.#structs.set(key, target);
    const { type } = instantiate(this.#index.type(ref.target), ref.args) as Extract<Shape, { kind: "alias" }>;
    const { name: lockPath } = this.#index.type(ref.target);
    const context = { file: target.file, parent: undefined, name: target.name, lockPath };
    const isOpen = this.#aliases.get(typeKey(ref)) === "open";
    const value = isOpen ? this.#type(type, context) : this.#reference(ref, context);
    target.members = [structMember("value", "value", value, false, "")];
    return target;
  }

  #inline(type: Extract<Type, { kind: "inline" }>, given: LoweringSite): SlotType {
    const { shape } = type;
    if (shape.kind === "alias") return this.#type(shape.type, given);
    const context = { ...given, lockPath: this.#lockPaths.get(type) ?? given.lockPath };
    if (shape.kind === "enum") return slotType(this.#enumAt(type, shape, context));
    const target = this.#newStruct(context, structKind(shape));
    this.#fill(target, shape, context);
    return slotType({ kind: "struct", target });
  }

  #rememberPaths(type: Type, path: string): void {
    switch (type.kind) {
      case "inline":
        if (!this.#lockPaths.has(type)) this.#lockPaths.set(type, path);
        break;
      case "array":
      case "set":
        this.#rememberPaths(type.element, `${path}[]`);
        break;
      case "map":
        this.#rememberPaths(type.key, `${path}{key}`);
        this.#rememberPaths(type.value, `${path}{}`);
        break;
      case "record":
        this.#rememberPaths(type.value, `${path}{}`);
        break;
      case "nullable":
        this.#rememberPaths(type.inner, path);
        break;
      case "tuple":
        type.elements.forEach((element, i) => {
          this.#rememberPaths(element.type, `${path}[${i}]`);
        });
        if (type.rest !== undefined) this.#rememberPaths(type.rest, `${path}[...]`);
        break;
      case "ref":
        type.args.forEach((arg, i) => {
          this.#rememberPaths(arg, `${path}<${i}>`);
        });
    }
  }

  // Structs.

  /** Returns the struct of a message, of a choice, or of an alias of one of them. */
  #structOf(ref: Extract<Type, { kind: "ref" }>): CapnpStruct {
    const key = typeKey(ref);
    const known = this.#structs.get(key);
    if (known !== undefined) return known;
    const declaration = this.#index.type(ref.target);
    let shape = instantiate(declaration, ref.args);
    const inner = shape.kind === "alias" ? withoutNull(shape.type) : undefined;
    if (inner?.kind === "inline") shape = inner.shape;
    const isTuple = inner?.kind === "tuple";
    const kind = isTuple ? ({ shape: "tuple", rest: inner.rest !== undefined } as const) : structKind(shape);
    const target = this.#declaredStruct(ref, kind.shape, kind);
    this.#structs.set(key, target);
    const bindings = bind(declaration, ref.args);
    const context = { file: target.file, parent: target, name: "", lockPath: declaration.name, bindings };
    if (isTuple) this.#fillTuple(target, inner, context);
    else this.#fill(target, shape, { ...context, parent: undefined });
    return target;
  }

  #declaredStruct(
    ref: Extract<Type, { kind: "ref" }>,
    shape: CapnpStruct["shape"],
    more: Pick<CapnpStruct, "discriminant" | "rest"> = {},
  ): CapnpStruct {
    const declaration = this.#index.type(ref.target);
    const file = this.#fileOf(this.#index.moduleOf(ref.target));
    const name = this.#names.nameOf(ref);
    const target: CapnpStruct = {
      ...{ kind: "struct", name, file, parent: undefined, doc: declaration.doc, shape, ...more },
      ...(declaration.exported && {
        root: { name: ref.args.length === 0 ? flatName(declaration.name) : name, type: ref },
      }),
      ...{ members: [], layout: noLayout, nested: [] },
    };
    file.types.push(target);
    return target;
  }

  #newStruct(
    { file, parent, name }: LoweringSite,
    rest: Pick<CapnpStruct, "shape" | "doc" | "discriminant" | "rest">,
  ): CapnpStruct {
    const scope = parent ?? file;
    const target: CapnpStruct = {
      ...{ kind: "struct", name: uniqueName(typeName(name), this.#names.namesIn(scope)), file, parent, ...rest },
      ...{ members: [], layout: noLayout, nested: [] },
    };
    (parent?.nested ?? file.types).push(target);
    return target;
  }

  #fill(target: CapnpStruct, shape: Shape, context: LoweringSite): void {
    const inside = { ...context, parent: target };
    switch (shape.kind) {
      case "message":
        target.members = this.#members("message", shape.fields, inside);
        break;
      case "oneof":
        target.members = [unset, ...this.#members("oneof", shape.cases, inside)];
        break;
      case "union": {
        const cases = shape.variants.map((variant): Field => {
          const { tag, id, type, at } = variant;
          return { name: tag, id, type, optional: false, readonly: false, doc: "", tags: {}, at };
        });
        target.members = [unset, ...this.#members("union", cases, inside, "|")];
        break;
      }
      default:
        throw new Error(`cannot make a struct of a ${shape.kind}`);
    }
  }

  #members(kind: BlockKind, fields: readonly Field[], context: LoweringSite, joint = "."): readonly CapnpMember[] {
    this.#diagnostics.push(...this.#remembered.checkOrder(kind, fields, context));
    const all = [...fields, ...this.#remembered.retiredOf(kind, fields, context)].sort((a, b) => a.id - b.id);
    const names = new Set(kind === "message" ? [] : ["unset"]);
    return all.map((entry) => {
      if ("tags" in entry) return this.#member(entry, kind, names, context, joint);
      const name = uniqueName(memberName(`obsolete ${entry.name}`), names, entry.id);
      return this.#obsolete(entry, name, kind, fields, context);
    });
  }

  #member(field: Field, kind: BlockKind, names: Set<string>, context: LoweringSite, joint: string): CapnpMember {
    const { name, wireName, id, type, optional, doc, at } = field;
    const spelt = uniqueName(memberName(wireName ?? name), names, id);
    const lockPath = `${context.lockPath}${joint}${lockName(name)}`;
    const inside = { ...context, name: typeWord(spelt), lockPath };
    // A case has no union of its own that could store whether its value is null.
    const found = kind === "oneof" ? slotType(this.#element(type, inside)) : this.#type(type, inside);
    if (found.type.kind !== "void") return structMember(spelt, name, found, optional, doc, kind !== "message");
    this.#diagnostics.push(diagnostic("VC4030", at, { member: `${context.lockPath}.${name}` }));
    return structMember(spelt, undefined, slotType(voidType), false, "Valid inside a running mesh only.");
  }

  #obsolete(
    { name, type: text }: LockEntry,
    spelt: string,
    kind: BlockKind,
    fields: readonly Field[],
    context: LoweringSite,
  ): CapnpMember {
    const inside = { ...context, lockPath: `${context.lockPath}${kind === "union" ? "|" : "."}${lockName(name)}` };
    const optional = text.endsWith("?");
    const sizes = this.#remembered.slotTypesOf(optional ? text.slice(0, -1) : text, inside);
    if (sizes.length !== 1) {
      const at = fields[0]?.at ?? { file: context.file.module, line: 1, column: 1 };
      const code = sizes.length === 0 ? "VC4032" : "VC4033";
      this.#diagnostics.push(diagnostic(code, at, { member: `${context.lockPath}.${name}`, type: text }));
    }
    const size = sizes[0] ?? slotType(voidType);
    const isCase = kind !== "message";
    // A nullable case is stored in a struct of its own.
    const whole = isCase && size.nullable ? slotType({ kind: "anyPointer" }) : size;
    return structMember(spelt, undefined, whole, optional, "Removed.", isCase);
  }

  // Enumerations.

  #enumOf(ref: Extract<Type, { kind: "ref" }>, shape: Extract<Shape, { kind: "enum" }>): CapnpSchemaType {
    const { name: declared, doc, key } = this.#index.type(ref.target);
    const file = this.#fileOf(this.#index.moduleOf(key));
    const numeric = numericEnumType(shape.values, ref);
    if (numeric !== undefined) {
      if (!this.#enums.has(key)) {
        this.#enums.set(key, { kind: "enum", name: "", file, parent: undefined, doc, type: ref, values: [] });
        file.types.push({ kind: "constants", name: this.#names.nameOf(ref), doc, values: constantsOf(shape.values) });
      }
      return numeric;
    }
    let target = this.#enums.get(key);
    if (target === undefined) {
      const context = { file, parent: undefined, name: "", lockPath: declared };
      const values = this.#values(shape.values, context);
      target = { kind: "enum", name: this.#names.nameOf(ref), file, parent: undefined, doc, type: ref, values };
      this.#enums.set(key, target);
      file.types.push(target);
    }
    return { kind: "enum", target };
  }

  #enumAt(type: Type, shape: Extract<Shape, { kind: "enum" }>, context: LoweringSite): CapnpSchemaType {
    const numeric = numericEnumType(shape.values, type);
    if (numeric !== undefined) return numeric;
    const { file, parent } = context;
    const name = uniqueName(typeName(context.name), this.#names.namesIn(parent ?? file));
    const values = this.#values(shape.values, context);
    const target: CapnpEnum = { kind: "enum", name, file, parent, doc: "", type, values };
    (parent?.nested ?? file.types).push(target);
    return { kind: "enum", target };
  }

  #values(values: readonly EnumValue[], context: LoweringSite): readonly CapnpEnumValue[] {
    this.#diagnostics.push(...this.#remembered.checkOrder("enum", values, context));
    const names = new Set(["unspecified"]);
    const all = [...values, ...this.#remembered.retiredOf("enum", values, context)].sort((a, b) => a.id - b.id);
    return [
      { name: "unspecified", value: undefined, doc: "" },
      ...all.map((entry): CapnpEnumValue => {
        if (!("value" in entry)) {
          return { name: uniqueName(memberName(`obsolete ${entry.name}`), names, entry.id), value: undefined, doc: "" };
        }
        return { name: uniqueName(memberName(entry.name), names, entry.id), value: entry.value, doc: entry.doc };
      }),
    ];
  }
}

const unset = plainStructMember("unset", undefined, voidType);

function arrayOf(element: CapnpSchemaType): CapnpSchemaType {
  return { kind: "list", element, as: "array" };
}

function siteBelow(context: LoweringSite, name: string, path: string): LoweringSite {
  return { ...context, name: context.name + name, lockPath: context.lockPath + path };
}

function withoutNull(type: Type): Type {
  if (type.kind === "nullable") return withoutNull(type.inner);
  return type.kind === "inline" && type.shape.kind === "alias" ? withoutNull(type.shape.type) : type;
}

/** Returns whether an inline type becomes a struct. */
function isStruct(type: Type): boolean {
  return type.kind === "tuple" || (type.kind === "inline" && type.shape.kind !== "enum");
}

function structKind(shape: Shape): Pick<CapnpStruct, "shape" | "discriminant" | "doc"> {
  if (shape.kind === "message") return { shape: "message", doc: "" };
  return { shape: "choice", doc: "", ...(shape.kind === "union" && { discriminant: shape.discriminant }) };
}

function constantsOf(values: readonly EnumValue[]) {
  const names = new Set<string>();
  return values.map(({ name, value, doc }) => ({
    name: uniqueName(memberName(name), names),
    value: Number(value),
    doc,
  }));
}

function lockName(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$./@~-]*$/u.test(name) ? name : JSON.stringify(name);
}

function layOutAll(type: CapnpFile["types"][number]): void {
  if (type.kind !== "struct") return;
  type.layout = layOutStruct(type);
  type.nested.forEach(layOutAll);
}
