/**
 * Random schemas for property tests: every kind of type, long and hostile names, several files that refer to each other.
 * Only what the compiler accepts; positions are all the same.
 */
import fc from "fast-check";
import type {
  ActorDeclaration,
  Endpoint,
  Field,
  Module,
  Parameter,
  Schema,
  Shape,
  TaskDeclaration,
  Type,
  TypeDeclaration,
} from "../../../compiler/model/index.js";
import { wellKnownNames } from "../../../compiler/model/index.js";
import { checkSchema } from "../../../compiler/source/read/check-schema.js";

const at = { file: "schemas/a.ts", line: 1, column: 1 };

/** Names that Viceroy, the language or the emitter itself use. */
const hostileTypes = [
  ..."Timestamp Value Any Codec Reader Writer Actor ActorMesh ActorDescriptor Endpoint StreamEndpoint MeshKind Awaitable Port".split(
    " ",
  ),
  ..."Promise Map Set Record ReadonlyMap ReadonlySet Date Uint8Array Float64Array Array Error Symbol".split(" "),
  ..."AsyncIterable Iterable D T K V value codec w r $ _ __proto Ünïcode 日本語 Tree2 Tree10 a1 a01".split(" "),
];
const hostileFields = [
  ..."__proto__ constructor then length name default class value w r this new arguments codec".split(" "),
  ..."toString hasOwnProperty eval await 日本語 with-dash a.b 0 01".split(" "),
  "two words",
  "it's",
  'a "quoted" name',
  "back\\slash",
];
const hostileParameters = "value w r codec port initial D T by count 日本語 $".split(" ");

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,7}(_?[A-Z][a-z]{1,14}){0,3}$/);
const capitalised = word.map((text) => text[0]!.toUpperCase() + text.slice(1));
const typeName = fc.oneof({ weight: 3, arbitrary: capitalised }, fc.constantFrom(...hostileTypes));
const fieldName = fc.oneof({ weight: 4, arbitrary: word }, fc.constantFrom(...hostileFields));
const parameterName = fc.oneof(
  { weight: 3, arbitrary: word.map((text) => `${text}_`) },
  fc.constantFrom(...hostileParameters),
);
const endpointName = word.map((text) => `${text}It`);
const text = fc.oneof(word, fc.constantFrom("", "it's", 'say "x"', "a\nb", "日本", "\u2028", "\ud800", "*/"));
const doc = fc.oneof(
  { weight: 2, arbitrary: fc.constant("") },
  fc.constantFrom("One line.", "Two\nlines.", "No end", "Ends a comment: */", "Tagged.\n\n@deprecated use another"),
);

const scalar: fc.Arbitrary<Type> = fc
  .constantFrom("boolean", "double", "float32", "int32", "uint64", "sfixed64", "string", "bytes", "date")
  .map((name) => ({ kind: "scalar", scalar: name }) as const);
const typedArray: fc.Arbitrary<Type> = fc
  .constantFrom("int8", "uint8clamped", "biguint64", "float64")
  .map((element) => ({ kind: "typedArray", element }) as const);

interface Known {
  readonly types: readonly { readonly key: string; readonly arity: number }[];
  readonly actors: readonly string[];
}

function types(known: Known, parameters: readonly string[]): fc.Arbitrary<Type> {
  return fc.letrec<{ type: Type }>((tie) => {
    const type = tie("type");
    const readonly = fc.boolean();
    const references = known.types.map(({ key, arity }) =>
      fc.array(type, { minLength: arity, maxLength: arity }).map((args): Type => ({ kind: "ref", target: key, args })),
    );
    return {
      type: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        { weight: 4, arbitrary: scalar },
        typedArray,
        fc.constantFrom<Type>({ kind: "rdmaBuffer" }, { kind: "tensor" }),
        fc.constantFrom(...wellKnownNames).map((name): Type => ({ kind: "wellKnown", name })),
        ...(parameters.length > 0
          ? [fc.constantFrom(...parameters).map((name): Type => ({ kind: "parameter", name }))]
          : []),
        fc.record({ kind: fc.constant("array" as const), element: type, readonly }),
        fc.record({ kind: fc.constant("set" as const), element: type, readonly }),
        fc.record({ kind: fc.constant("map" as const), key: scalar, value: type, readonly }),
        fc.record({ kind: fc.constant("record" as const), value: type }),
        type.filter((inner) => inner.kind !== "nullable").map((inner): Type => ({ kind: "nullable", inner })),
        fc.record({ kind: fc.constant("port" as const), element: type }),
        tuple(type),
        shape(type, true).map((inline): Type => ({ kind: "inline", shape: inline })),
        ...references,
        ...known.actors.map((actor) =>
          fc
            .option(fc.uniqueArray(word, { minLength: 1, maxLength: 3 }), { nil: undefined })
            .map((dimensions): Type => ({ kind: "mesh", actor, ...(dimensions && { dimensions }) })),
        ),
      ),
    };
  }).type;
}

function tuple(type: fc.Arbitrary<Type>): fc.Arbitrary<Type> {
  return fc
    .record({
      required: fc.array(type, { maxLength: 3 }),
      optional: fc.array(type, { maxLength: 2 }),
      rest: fc.option(type, { nil: undefined }),
      names: fc.option(fc.uniqueArray(parameterName, { minLength: 5, maxLength: 5 }), { nil: undefined }),
      readonly: fc.boolean(),
    })
    .map(({ required, optional, rest, names, readonly }) => ({
      kind: "tuple" as const,
      elements: [...required, ...optional].map((element, i) => ({
        ...(names && { name: names[i] as string }),
        type: element,
        optional: i >= required.length,
      })),
      ...(rest && optional.length === 0 && names === undefined && { rest }),
      readonly,
    }));
}

function fields(type: fc.Arbitrary<Type>): fc.Arbitrary<readonly Field[]> {
  return fc
    .uniqueArray(fieldName, { maxLength: 5 })
    .chain((names) =>
      fc.tuple(
        ...names.map((name) =>
          fc
            .record({ type, optional: fc.boolean(), readonly: fc.boolean(), doc })
            .map((rest): Field => ({ name, id: 1, tags: {}, at, ...rest })),
        ),
      ),
    );
}

function shape(type: fc.Arbitrary<Type>, inline: boolean): fc.Arbitrary<Shape> {
  const origin = inline ? fc.constant("literals" as const) : fc.constantFrom("literals" as const, "enum" as const);
  const enumeration = fc
    .record({ origin, values: fc.uniqueArray(text, { minLength: 1, maxLength: 7 }), numeric: fc.boolean() })
    .map(
      ({ origin, values, numeric }): Shape => ({
        kind: "enum",
        origin,
        values: values.map((value, id) => ({ name: value, value: numeric ? id * 7 : value, id, doc: "", at })),
      }),
    );
  const message = fields(type).map((fields): Shape => ({ kind: "message", fields }));
  const oneof = fields(type)
    .filter((cases) => cases.length > 0)
    .map((cases): Shape => ({ kind: "oneof", cases: cases.map((field) => ({ ...field, optional: false })) }));
  const union = fc.uniqueArray(fc.tuple(text, message), { minLength: 2, maxLength: 4, selector: ([tag]) => tag }).map(
    (variants): Shape => ({
      kind: "union",
      discriminant: "kind",
      variants: variants.map(([tag, shape], id) => ({ tag, id, type: { kind: "inline", shape }, at })),
    }),
  );
  return fc.oneof({ weight: 3, arbitrary: message }, enumeration, oneof, union);
}

function declaration(key: string, typeParameters: readonly string[], known: Known): fc.Arbitrary<TypeDeclaration> {
  const type = types(known, typeParameters);
  const alias = types({ ...known, types: [] }, typeParameters).map((type): Shape => ({ kind: "alias", type }));
  const name = key.slice(key.indexOf("#") + 1);
  return fc
    .record({ shape: fc.oneof({ weight: 3, arbitrary: shape(type, false) }, alias), doc })
    .map(({ shape: any, doc }) => {
      // An enum called `Date` would be a constant called `Date`, which a linter has to refuse.
      const shape: Shape = any.kind === "enum" && name in globalThis ? { ...any, origin: "literals" } : any;
      const enumeration = shape.kind === "enum" && shape.origin === "enum";
      return { key, name, exported: true, doc, typeParameters: enumeration ? [] : typeParameters, shape, at };
    });
}

function parameters(type: fc.Arbitrary<Type>): fc.Arbitrary<readonly Parameter[]> {
  return fc
    .record({
      names: fc.uniqueArray(parameterName, { maxLength: 4 }),
      types: fc.array(type, { minLength: 4, maxLength: 4 }),
      required: fc.nat(4),
    })
    .map(({ names, types, required }) =>
      names.map((name, i) => ({ name, id: i + 1, type: types[i] as Type, optional: i >= required, at })),
    );
}

function endpoint(name: string, id: number, type: fc.Arbitrary<Type>): fc.Arbitrary<Endpoint> {
  return fc
    .record({ params: parameters(type), result: fc.option(type, { nil: undefined }), stream: fc.boolean(), doc })
    .map(({ params, result, stream, doc }) => ({
      ...{ name, id, doc, params, tags: {}, at },
      ...(result && { result }),
      stream: stream && result !== undefined,
      options: { concurrent: stream, idempotent: false, respond: false },
    }));
}

function actor(key: string, known: Known): fc.Arbitrary<ActorDeclaration> {
  const type = types(known, []);
  const name = key.slice(key.indexOf("#") + 1);
  return fc
    .uniqueArray(endpointName, { maxLength: 4 })
    .chain((names) => fc.tuple(fc.tuple(...names.map((n, i) => endpoint(n, i + 1, type))), parameters(type), doc))
    .map(([endpoints, args, doc]) => ({ key, name, id: 7, doc, extends: [], args, endpoints, at }));
}

function task(key: string, known: Known): fc.Arbitrary<TaskDeclaration> {
  const type = types(known, []);
  const name = key.slice(key.indexOf("#") + 1);
  return fc
    .record({ args: parameters(type), result: fc.option(type, { nil: undefined }), doc, idempotent: fc.boolean() })
    .map(({ result, ...declared }) => ({ key, name, ...declared, ...(result && { result }), at }));
}

/** Schemas of one to four files. */
export const arbitrarySchema: fc.Arbitrary<Schema> = fc
  .uniqueArray(word, { minLength: 1, maxLength: 4 })
  .chain((files) =>
    fc.tuple(
      ...files.map((file, i) =>
        fc
          .record({
            types: fc.uniqueArray(fc.tuple(typeName, fc.nat(2)), { maxLength: 5, selector: ([name]) => name }),
            actors: fc.uniqueArray(capitalised, { maxLength: 2 }),
            tasks: fc.uniqueArray(capitalised, { maxLength: 2 }),
          })
          .map(({ types, actors, tasks }) => ({
            path: `schemas/${i % 2 === 0 ? "" : "deep/"}${file}_.ts`,
            types: types.map(([name, arity]) => ({ name, arity })),
            actors: actors.map((name) => `${name}Doer`),
            tasks: tasks.map((name) => `${name}Job`),
          })),
      ),
    ),
  )
  .chain((files) => {
    const known: Known = {
      types: files.flatMap(({ path, types }) => types.map(({ name, arity }) => ({ key: `${path}#${name}`, arity }))),
      actors: files.flatMap(({ path, actors }) => actors.map((name) => `${path}#${name}`)),
    };
    const parameterNames = ["T", "Item"];
    return fc.tuple(
      ...files.map(({ path, types, actors, tasks }) =>
        fc
          .record({
            types: fc.tuple(
              ...types.map(({ name, arity }) => declaration(`${path}#${name}`, parameterNames.slice(0, arity), known)),
            ),
            actors: fc.tuple(...actors.map((name) => actor(`${path}#${name}`, known))),
            tasks: fc.tuple(...tasks.map((name) => task(`${path}#${name}`, known))),
          })
          .map((declared): Module => ({ path, ...declared })),
      ),
    );
  })
  .map((modules): Schema => ({ package: "hostile", modules: consistent(modules) }))
  .filter((schema) => checkSchema(schema).every(({ severity }) => severity !== "error"));

/** Enumerations lose their type parameters; references to them lose their arguments. */
function consistent(modules: readonly Module[]): readonly Module[] {
  const arity = new Map(
    modules.flatMap(({ types }) => types.map(({ key, typeParameters }) => [key, typeParameters.length] as const)),
  );
  const text = JSON.stringify(modules);
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !("kind" in value) || value.kind !== "ref") return value;
    const reference = value as { kind: "ref"; target: string; args: Type[] };
    return { ...reference, args: reference.args.slice(0, arity.get(reference.target)) };
  });
}
