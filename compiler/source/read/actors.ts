/** Reads actor interfaces: constructor arguments, endpoints with their options, and inherited endpoints. */
import type { ActorDeclaration, DeclarationKey, Endpoint, Parameter, Type } from "../../model/index.js";
import { whyReserved } from "../../model/reserved-names.js";
import { partsOf, textOf } from "../../model/resolve.js";
import type { SourceDeclaration, SourceMember, SourceType, Span } from "../type-source.js";
import type { FileScope } from "./context.js";
import { type ResultWords, readArgumentTuple, readParameters, wrongResult } from "./parameters.js";
import { type ReadTags, readMemberTags, readTags } from "./tags.js";
import { readType, type TypeContext, unsupported } from "./types.js";
import { isKeyword } from "./unions.js";

export interface ActorReaderContext extends TypeContext {
  /**
   * Returns another actor, or undefined while that actor is being read. Then its inheritance is a cycle, which the
   * compiler has reported.
   */
  actor(key: DeclarationKey): ActorDeclaration | undefined;
}

export function readActor(
  declaration: SourceDeclaration,
  scope: FileScope,
  context: ActorReaderContext,
): ActorDeclaration {
  const { key, name } = declaration;
  const { doc } = readTags(declaration.comment, "actor", scope);
  const bases = declaration.heritage.flatMap((base) => baseOf(base, name, scope, context));
  const own = declaration.heritage.find((base) => isActorBase(base));
  const args =
    own === undefined || (argumentsOf(own) === undefined && bases.length > 0)
      ? (bases[0]?.args ?? [])
      : readArguments(argumentsOf(own), scope, name, context);
  const endpoints = new Map(bases.flatMap((base) => base.endpoints.map((endpoint) => [endpoint.name, endpoint])));
  for (const endpoint of readEndpoints(declaration.members, scope, name, context)) {
    endpoints.set(endpoint.name, endpoint);
  }
  const state = readState(own, bases, declaration, scope, context);
  if (state !== undefined) checkStateMethods(endpoints, declaration, scope);
  return {
    key,
    name,
    id: 0,
    doc,
    extends: bases.map((base) => base.key),
    args,
    ...(state !== undefined && { state }),
    endpoints: [...endpoints.values()],
    at: scope.at(declaration),
  };
}

/** Returns whether a type is `Actor` of `viceroy/schema`. */
export function isActorBase(type: SourceType): boolean {
  return type.kind === "reference" && type.origin === "vocabulary" && type.name === "Actor";
}

function argumentsOf(base: SourceType): SourceType | undefined {
  return base.kind === "reference" ? base.args[0] : undefined;
}

function baseOf(
  base: SourceType,
  name: string,
  scope: FileScope,
  context: ActorReaderContext,
): readonly ActorDeclaration[] {
  if (isActorBase(base)) return [];
  if (base.kind === "reference" && base.origin === "unresolved") return [];
  if (base.kind === "reference" && base.key !== undefined && context.isActor(base.key)) {
    const actor = context.reach(base, scope) ? context.actor(base.key) : undefined;
    return actor === undefined ? [] : [actor];
  }
  scope.report(base, "VC1215", { name, base: scope.text(base) });
  return [];
}

/** Reads the labelled tuple in `Actor<[initial: Int32]>`. */
function readArguments(
  type: SourceType | undefined,
  scope: FileScope,
  name: string,
  context: ActorReaderContext,
): readonly Parameter[] {
  const owner = `${name}'s constructor`;
  const refuse = (at: Span, why: string) => scope.report(at, "VC1214", { owner, why });
  return readArgumentTuple(type, scope, owner, context, refuse);
}

/**
 * Reads the state of `Actor<[...], State>`, or inherits that of the bases. Whether it can be stored is checked when the
 * whole schema is known.
 */
function readState(
  own: SourceType | undefined,
  bases: readonly ActorDeclaration[],
  declaration: SourceDeclaration,
  scope: FileScope,
  context: ActorReaderContext,
): Type | undefined {
  const { name } = declaration;
  const written = own?.kind === "reference" ? own.args[1] : undefined;
  if (written !== undefined && !isKeyword(written, "never"))
    return readType(written, scope, `${name}'s state`, context);
  const inherited = bases.filter((base) => base.state !== undefined);
  const [first, other] = inherited.filter(
    ({ state }, i) => inherited.findIndex((base) => textOf(base.state!) === textOf(state!)) === i,
  );
  if (first !== undefined && other !== undefined) {
    scope.report(declaration, "VC1221", { name, why: `${first.name} and ${other.name} have different states` });
  }
  return first?.state;
}

/** Reports endpoints that have the names of the methods which store and restore the state. */
function checkStateMethods(
  endpoints: ReadonlyMap<string, Endpoint>,
  declaration: SourceDeclaration,
  scope: FileScope,
): void {
  for (const name of ["save", "restore"]) {
    if (!endpoints.has(name)) continue;
    const at = declaration.members.find((member) => member.name === name) ?? declaration;
    const why = `actors with a state have a method of this name`;
    const other = `do${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    scope.report(at, "VC1207", { owner: declaration.name, name, why, other });
  }
}

function readEndpoints(
  members: readonly SourceMember[],
  scope: FileScope,
  owner: string,
  context: ActorReaderContext,
): readonly Endpoint[] {
  const seen = new Set<string>();
  return members.flatMap((member) => {
    const name = endpointName(member, seen, scope, owner);
    return name === undefined ? [] : [readEndpoint(name, member, scope, owner, context)];
  });
}

/** Returns the name of an endpoint. If the member is not an endpoint, reports this and returns undefined. */
function endpointName(member: SourceMember, seen: Set<string>, scope: FileScope, owner: string): string | undefined {
  const { kind, name } = member;
  if (kind === "call" || kind === "index" || kind === "accessor" || name === undefined) {
    const what = { call: "a call signature", index: "an index signature", accessor: "an accessor" };
    const why = kind in what ? `it is ${what[kind as keyof typeof what]}` : "its name is computed";
    scope.report(member, "VC1113", { owner, why });
    return undefined;
  }
  if (kind === "property") {
    const type = member.type === undefined || member.type.kind === "function" ? "void" : scope.text(member.type);
    scope.report(member, "VC1205", { owner, name, type });
    return undefined;
  }
  if (seen.has(name)) {
    scope.report(member, "VC1206", { owner, name });
    return undefined;
  }
  seen.add(name);
  const why = whyReserved(name);
  if (why !== undefined) {
    const stem = name.replace(/^[$_]+/, "").replace(/_+$/, "");
    scope.report(member, "VC1207", { owner, name, why, other: `do${stem.charAt(0).toUpperCase()}${stem.slice(1)}` });
    return undefined;
  }
  if (member.generic) {
    scope.report(member, "VC1208", { owner, name });
    return undefined;
  }
  if (member.optional) scope.report(member, "VC1213", { owner, name });
  return name;
}

function readEndpoint(
  name: string,
  member: SourceMember,
  scope: FileScope,
  owner: string,
  context: ActorReaderContext,
): Endpoint {
  const read = readMemberTags(member, "endpoint", scope);
  const { doc, tags, options, wireName } = read;
  const params = readParameters(member.params, scope, `${owner}.${name}`, context);
  const { result, stream } = readResult(name, member, scope, owner, context);
  const answered = options.respond ? respondResult(name, member, params, result, scope, owner) : result;
  const unkept = options.propagate === undefined ? undefined : whyNotPropagated(read, stream, answered);
  if (unkept !== undefined) scope.report(member, "VC1218", { owner, name, why: unkept });
  return {
    name,
    ...(wireName !== undefined && { wireName }),
    id: 0,
    doc,
    params,
    ...(answered !== undefined && { result: answered }),
    stream,
    options: respondable(read, params),
    tags,
    at: scope.at(member),
  };
}

/**
 * Returns the options of an endpoint, without `respond` if the first parameter is not a port. The missing port is
 * reported elsewhere.
 */
function respondable({ options }: ReadTags, params: readonly Parameter[]): Endpoint["options"] {
  return options.respond && params[0]?.type.kind !== "port" ? { ...options, respond: false } : options;
}

/** Returns why the answers of an endpoint cannot be tensors of a mesh, or undefined if they can. */
function whyNotPropagated({ options }: ReadTags, stream: boolean, result: Type | undefined): string | undefined {
  if (stream) return "it returns a stream";
  if (options.respond) return "it answers through a port";
  if (result === undefined) return "it has no answer";
  const parts = result.kind === "array" ? [result.element] : result.kind === "tuple" ? partsOf(result) : [result];
  const others = parts.filter(({ kind }) => kind !== "tensor" && kind !== "unsupported");
  return others.length === 0 ? undefined : "its answer is not a tensor";
}

/** Returns the result of a `@respond` endpoint: the element type of its port. */
function respondResult(
  name: string,
  member: SourceMember,
  params: readonly Parameter[],
  result: Type | undefined,
  scope: FileScope,
  owner: string,
): Type | undefined {
  const [port] = params;
  const refuse = (why: string) => scope.report(member, "VC1216", { owner, name, why });
  if (port === undefined) refuse("it has no port parameter");
  else if (port.type.kind === "unsupported") return result;
  else if (port.type.kind !== "port") refuse(`its first parameter, ${port.name}, is not a port`);
  else if (port.optional) refuse("its port is optional");
  else if (result !== undefined) refuse("it also returns a value");
  return port?.type.kind === "port" ? port.type.element : result;
}

const resultWords: ResultWords = {
  promised: "every caller gets a promise in any case",
  implementation: "handler",
  sequence: (item) => ({ why: "a sequence of values is a stream", hint: `Return \`Stream<${item}>\`.` }),
};

function readResult(
  name: string,
  { type }: SourceMember,
  scope: FileScope,
  owner: string,
  context: ActorReaderContext,
): { readonly result?: Type; readonly stream: boolean } {
  // A method without a return type has already been reported by the compiler.
  if (type === undefined || isKeyword(type, "void")) return { stream: false };
  const place = `${owner}.${name}()`;
  if (type.kind === "reference" && type.origin === "vocabulary" && type.name === "Stream") {
    const [item] = type.args;
    if (item === undefined) return { stream: true };
    return { result: readType(item, scope, place, context), stream: true };
  }
  const wrong = wrongResult(type, scope, resultWords);
  if (wrong !== undefined) {
    const result = unsupported(type, scope, "VC1212", { owner, name, type: scope.text(type), ...wrong });
    return { result, stream: false };
  }
  return { result: readType(type, scope, place, context), stream: false };
}
