/**
 * Emits descriptors, which describe actors to the runtime. The endpoints are wrapped in a function, because their
 * codecs can be in files that import this file.
 */
import { pascalCase } from "../../../shared/protobuf/names.js";
import type { ActorDeclaration, Endpoint, Module, Parameter } from "../../model/schema.js";
import {
  arrow,
  arrowToObject,
  bracketed,
  type Code,
  call,
  code,
  type FileBuilder,
  generic,
  hex32,
  hex64,
  importedValue,
  objectKey,
  objectLiteral,
  property,
  stringLiteral,
  tallObjectLiteral,
} from "../kit/index.js";
import { abiType, abiValue, propagated, tensorArguments } from "./abi-names.js";
import { type FunctionCodecs, lockstepLayoutsOf } from "./codec/index.js";
import { callerParams } from "./emit-actor.js";
import type { EmitContext } from "./emit-context.js";
import { TypePrinter } from "./type-printer.js";

/** Writes the descriptor: `counterDescriptor`. */
export function emitDescriptor(
  file: FileBuilder,
  actor: ActorDeclaration,
  codecs: FunctionCodecs,
  context: EmitContext,
): void {
  const parents = actor.extends.map((key) => code`() => ${context.descriptor(key)}`);
  const endpoints = actor.endpoints.map((endpoint) =>
    property(objectKey(endpoint.name), endpointCode(endpoint, context.index.moduleOf(actor.key), codecs, context)),
  );
  const definition = tallObjectLiteral([
    `key: ${stringLiteral(context.actorKey(actor.key))}`,
    `name: ${stringLiteral(actor.name)}`,
    `id: ${hex32(actor.id)}`,
    `service: ${stringLiteral(context.service(actor.key))}`,
    `fingerprint: ${hex64(context.fingerprints.actor(actor.key))}`,
    ...(parents.length === 0 ? [] : [["extends: ", bracketed(parents)]]),
    ["args: ", arrow("()", argsCode(codecs.args(actor), actor.args))],
    ...(actor.state === undefined ? [] : [["state: ", arrow("()", codecs.codec(actor.state))]]),
    ["endpoints: ", arrowToObject("()", tallObjectLiteral(endpoints))],
  ]);
  file.blank();
  file.line(
    code`export const ${context.descriptor(actor.key)}: ${abiType("ActorDescriptor")} = `,
    call(abiValue("defineActor"), [definition]),
    ";",
  );
}

function endpointCode(endpoint: Endpoint, module: Module, codecs: FunctionCodecs, context: EmitContext): Code {
  const { id, wireName, result, stream, options } = endpoint;
  return objectLiteral([
    `id: ${id}`,
    ["args: ", argsCode(codecs.args(endpoint), callerParams(endpoint))],
    ...(result === undefined ? [] : [["result: ", codecs.codec(result)]]),
    ...(wireName === undefined ? [] : [`method: ${stringLiteral(pascalCase(wireName))}`]),
    ...(stream ? ["stream: true"] : []),
    ...(options.concurrent === false
      ? []
      : [`concurrent: ${options.concurrent === true ? "true" : groupDigits(options.concurrent)}`]),
    ...(options.idempotent ? ["idempotent: true"] : []),
    ...(options.respond ? ["respond: true"] : []),
    ...(options.timeout === undefined ? [] : [`timeout: ${groupDigits(options.timeout)}`]),
    ...(options.reduce === undefined ? [] : [`reduce: ${stringLiteral(options.reduce)}`]),
    ...interceptorCode(endpoint, module, context),
  ]);
}

/** Returns the property that holds the interceptor of an endpoint with tensors, or nothing for other endpoints. */
function interceptorCode(endpoint: Endpoint, module: Module, context: EmitContext): readonly Code[] {
  const { params, options, result } = endpoint;
  const { propagate } = options;
  if (propagate?.shapes !== undefined) {
    const { module: beside, name } = propagate.shapes;
    const types = new TypePrinter(context);
    // The types are explicit, so that the function is type-checked.
    const typed = generic(propagated, [types.parameterTuple(params), types.type(result!, "argument")]);
    return [["interceptor: ", call(typed, [importedValue(context.specifierBeside(module, beside), name)])]];
  }
  if (propagate !== undefined) return [["interceptor: ", call(propagated, [])]];
  const layouts = lockstepLayoutsOf(context.index);
  return params.some(({ type }) => layouts.holdsTensors(type)) ? [["interceptor: ", tensorArguments]] : [];
}

function argsCode(args: Code, params: readonly Parameter[]): Code {
  const required = params.filter((param) => !param.optional).length;
  return call(abiValue("defineArgs"), [args, String(required), String(params.length)]);
}

/** Groups the digits of a number: `5000` -> `5_000`. */
function groupDigits(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "_");
}
