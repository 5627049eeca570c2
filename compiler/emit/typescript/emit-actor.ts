/**
 * Emits the public declarations of an actor: the base class of implementations, the type of its meshes, and its kind,
 * with which a mesh type is derived for other dimensions.
 */
import type { ActorDeclaration, Endpoint, Parameter } from "../../model/schema.js";
import type { Type } from "../../model/type.js";
import {
  type Code,
  code,
  type FileBuilder,
  generic,
  globalName,
  group,
  indent,
  line,
  propertyKey,
  signature,
  stringLiteral,
  union,
} from "../kit/index.js";
import { abiType, abiValue } from "./abi-names.js";
import type { EmitContext } from "./emit-context.js";
import { isObjectType, TypePrinter } from "./type-printer.js";

/** Writes the base class, the mesh type and the kind. */
export function emitActor(file: FileBuilder, actor: ActorDeclaration, context: EmitContext): void {
  const types = new TypePrinter(context);
  emitClass(file, actor, types, context);
  emitMesh(file, actor, types, context);
  emitKind(file, actor, types, context);
}

function emitClass(file: FileBuilder, actor: ActorDeclaration, types: TypePrinter, context: EmitContext): void {
  file.blank();
  file.doc(actor.doc);
  file.block(code`export abstract class ${context.actorClass(actor.key)} extends ${abiValue("Actor")}`, () => {
    file.block(code`static override get descriptor(): ${abiType("ActorDescriptor")}`, () => {
      file.line(code`return ${context.descriptor(actor.key)};`);
    });
    file.line(code`declare readonly $kind: ${context.meshKind(actor.key)};`);
    for (const endpoint of actor.endpoints) {
      file.doc(endpoint.doc);
      const hug = endpoint.params.length === 1 && endpoint.params.every(({ type }) => isObjectType(type));
      const params = endpoint.params.map((param) => types.parameter(param, hug));
      const result = [handlerResult(endpoint, types), ";"];
      file.line("abstract ", propertyKey(endpoint.name), signature(params, result, hug));
    }
    if (actor.state !== undefined) emitStateMethods(file, actor.state, types);
  });
}

function emitStateMethods(file: FileBuilder, state: Type, types: TypePrinter): void {
  file.doc("Returns the state for a checkpoint. Runs between two messages, never while a message is handled.");
  file.line(code`save?(): ${types.generic(abiType("Awaitable"), [state])};`);
  file.doc("Takes the state of a checkpoint. Runs after the constructor and before `init`, if there is a checkpoint.");
  file.line(code`restore?(state: ${types.type(state, "argument")}): ${generic(abiType("Awaitable"), ["void"], true)};`);
}

function emitMesh(file: FileBuilder, actor: ActorDeclaration, types: TypePrinter, context: EmitContext): void {
  const dims = file.scope().name("D");
  const base = generic(abiType("ActorMesh"), [context.meshKind(actor.key), dims]);
  const head = code`export interface ${context.mesh(actor.key)}<${dims} extends string = string>`;
  file.blank();
  file.doc(meshDoc(actor));
  file.block(group([head, indent([line, "extends ", base])]), () => {
    for (const endpoint of actor.endpoints) {
      file.doc(endpoint.doc);
      const { reduce, propagate } = endpoint.options;
      const kind = abiType(endpointKind(endpoint));
      const result = endpoint.result === undefined ? "void" : types.type(endpoint.result, "argument");
      const declared =
        propagate !== undefined
          ? [propagate.shapes === undefined ? generic(globalName("Promise"), [result], true) : result]
          : reduce === undefined || endpoint.stream
            ? []
            : [stringLiteral(reduce)];
      const type = generic(kind, [types.parameterTuple(callerParams(endpoint)), result, dims, ...declared]);
      file.line("readonly ", propertyKey(endpoint.name), ": ", type, ";");
    }
  });
}

function endpointKind({ stream, options }: Endpoint): string {
  if (stream) return "StreamEndpoint";
  return options.propagate === undefined ? "Endpoint" : "PropagatedEndpoint";
}

function emitKind(file: FileBuilder, actor: ActorDeclaration, types: TypePrinter, context: EmitContext): void {
  const mesh = context.mesh(actor.key);
  file.blank();
  file.doc(`Maps dimensions to the type of \`${actor.name}Mesh\`.`);
  file.block(code`export interface ${context.meshKind(actor.key)} extends ${abiType("MeshKind")}`, () => {
    file.line(code`readonly args: ${types.parameterTuple(actor.args)};`);
    file.line(code`readonly mesh: ${mesh}<this["dims"]>;`);
  });
}

/** Returns the parameters that a caller passes. The port of `@respond` is not one of them. */
export function callerParams(endpoint: Endpoint): readonly Parameter[] {
  return endpoint.options.respond ? endpoint.params.slice(1) : endpoint.params;
}

/** Returns the result type of a handler. A handler that responds through a port returns nothing else. */
function handlerResult(endpoint: Endpoint, types: TypePrinter): Code {
  const { result } = endpoint;
  if (result === undefined || endpoint.options.respond) return generic(abiType("Awaitable"), ["void"], true);
  if (!endpoint.stream) return types.generic(abiType("Awaitable"), [result]);
  return union([types.generic(globalName("AsyncIterable"), [result]), types.generic(globalName("Iterable"), [result])]);
}

/** Returns the documentation of a mesh: that of the actor, followed by a sentence about the mesh, before any tags. */
function meshDoc(actor: ActorDeclaration): string {
  const sentence = `A mesh of \`${actor.name}\` actors with the dimensions \`D\`.`;
  const [text = "", tags = ""] = splitAtTags(actor.doc);
  const separator = text.includes("\n") || !/[.!?]$/.test(text) ? "\n\n" : " ";
  return [text === "" ? sentence : text + separator + sentence, tags].filter((part) => part !== "").join("\n\n");
}

function splitAtTags(doc: string): readonly [string, string] {
  const start = /^\s*@\w/m.exec(doc)?.index ?? doc.length;
  return [doc.slice(0, start).trimEnd(), doc.slice(start).trimStart()];
}
