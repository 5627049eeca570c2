/**
 * Emits the constants that describe tasks: `SquareTask`. Each argument has a codec of its own, because its bytes can be
 * those of the result of another task. The codecs are wrapped in functions, because they can be in files that import this
 * file.
 */
import type { TaskDeclaration } from "../../model/schema.js";
import {
  arrow,
  arrowToList,
  assignment,
  bracketed,
  call,
  code,
  type FileBuilder,
  generic,
  hex64,
  stringLiteral,
  tallObjectLiteral,
} from "../kit/index.js";
import { abiType, abiValue } from "./abi-names.js";
import type { FunctionCodecs } from "./codec/index.js";
import type { EmitContext } from "./emit-context.js";
import { isApplied, TypePrinter } from "./type-printer.js";

/** Writes the constant of a task. */
export function emitTask(file: FileBuilder, task: TaskDeclaration, codecs: FunctionCodecs, context: EmitContext): void {
  const { key, name, doc, args, result, idempotent } = task;
  const types = new TypePrinter(context);
  const returned = result === undefined ? "void" : types.type(result, "argument");
  const type = generic(abiType("TaskSchema"), [types.parameterTuple(args), returned]);
  const definition = tallObjectLiteral([
    `key: ${stringLiteral(context.taskKey(key))}`,
    `name: ${stringLiteral(name)}`,
    `fingerprint: ${hex64(context.fingerprints.task(key))}`,
    ["argNames: ", bracketed(args.map((arg) => stringLiteral(arg.name)))],
    `minArgs: ${args.filter(({ optional }) => !optional).length}`,
    ["args: ", arrowToList("()", bracketed(args.map((arg) => codecs.codec(arg.type))))],
    ...(result === undefined ? [] : [["result: ", arrow("()", codecs.codec(result))]]),
    ...(idempotent ? ["idempotent: true"] : []),
  ]);
  file.blank();
  file.doc(doc);
  const left = code`export const ${context.task(key)}: ${type}`;
  const right = call(abiValue("defineTask"), [definition]);
  // Formatters break such a type of a constant, instead of the line after `=`.
  const isBroken = result !== undefined && isApplied(result);
  file.line(isBroken ? [left, " = ", right] : assignment(left, right), ";");
}
