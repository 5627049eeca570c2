/**
 * Descriptors: what the runtime knows of an actor. Endpoints stand behind a function, since their codecs may live in
 * files that import this one.
 */
import { pascalCase } from "../../../schemas/protobuf/names.js";
import type { ActorDeclaration, Endpoint, Parameter } from "../../model/schema.js";
import {
  arrow,
  arrowToObject,
  bracketed,
  type Code,
  call,
  code,
  type FileBuilder,
  hex32,
  hex64,
  objectKey,
  objectLiteral,
  property,
  stringLiteral,
  tallObjectLiteral,
} from "../kit/index.js";
import { callerParams } from "./actors.js";
import type { ModuleCodecs } from "./codec/index.js";
import type { EmitContext } from "./context.js";
import { abiType, abiValue } from "./names.js";

/** Writes `counterDescriptor`. */
export function emitDescriptor(
  file: FileBuilder,
  actor: ActorDeclaration,
  codecs: ModuleCodecs,
  context: EmitContext,
): void {
  const parents = actor.extends.map((key) => code`() => ${context.descriptor(key)}`);
  const endpoints = actor.endpoints.map((endpoint) =>
    property(objectKey(endpoint.name), endpointCode(endpoint, codecs)),
  );
  const definition = tallObjectLiteral([
    `key: ${stringLiteral(context.actorKey(actor.key))}`,
    `name: ${stringLiteral(actor.name)}`,
    `id: ${hex32(actor.id)}`,
    `service: ${stringLiteral(context.service(actor.key))}`,
    `fingerprint: ${hex64(context.fingerprints.actor(actor.key))}`,
    ...(parents.length === 0 ? [] : [["extends: ", bracketed(parents)]]),
    ["args: ", arrow("()", argsCode(codecs.args(actor), actor.args))],
    ["endpoints: ", arrowToObject("()", tallObjectLiteral(endpoints))],
  ]);
  file.blank();
  file.line(
    code`export const ${context.descriptor(actor.key)}: ${abiType("ActorDescriptor")} = `,
    call(abiValue("defineActor"), [definition]),
    ";",
  );
}

function endpointCode(endpoint: Endpoint, codecs: ModuleCodecs): Code {
  const { id, wireName, result, stream, options } = endpoint;
  return objectLiteral([
    `id: ${id}`,
    ["args: ", argsCode(codecs.args(endpoint), callerParams(endpoint))],
    ...(result === undefined ? [] : [["result: ", codecs.of(result)]]),
    ...(wireName === undefined ? [] : [`method: ${stringLiteral(pascalCase(wireName))}`]),
    ...(stream ? ["stream: true"] : []),
    ...(options.concurrent ? ["concurrent: true"] : []),
    ...(options.idempotent ? ["idempotent: true"] : []),
    ...(options.respond ? ["respond: true"] : []),
    ...(options.timeout === undefined ? [] : [`timeout: ${groupDigits(options.timeout)}`]),
    ...(options.reduce === undefined ? [] : [`reduce: ${stringLiteral(options.reduce)}`]),
  ]);
}

function argsCode(args: Code, params: readonly Parameter[]): Code {
  const required = params.filter((param) => !param.optional).length;
  return call(abiValue("defineArgs"), [args, String(required), String(params.length)]);
}

/** `5000` -> `5_000`. */
function groupDigits(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "_");
}
