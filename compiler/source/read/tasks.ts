/** Reads task interfaces: their arguments and results. */
import type { DeclarationKey, Parameter, TaskDeclaration, Type } from "../../model/index.js";
import type { SourceDeclaration, SourceType, Span } from "../type-source.js";
import type { FileScope } from "./context.js";
import { type ResultWords, readArgumentTuple, type WrongResult, wrongResult } from "./parameters.js";
import { readTags } from "./tags.js";
import { readType, type TypeContext, unsupported } from "./types.js";
import { isKeyword } from "./unions.js";

/** Returns whether a type is `Task` of `viceroy/schema`. */
export function isTaskBase(type: SourceType): boolean {
  return type.kind === "reference" && type.origin === "vocabulary" && type.name === "Task";
}

/**
 * Reads a task. It is reported, and undefined is returned, if the interface inherits from another one or has type
 * parameters, because its arguments are then not those of one `Task<[…], Result>`.
 */
export function readTask(
  declaration: SourceDeclaration,
  scope: FileScope,
  context: TypeContext,
): TaskDeclaration | undefined {
  const { key, name, heritage, members, typeParameters } = declaration;
  if (typeParameters.length > 0) {
    scope.report(declaration, "VC1224", { name });
    return undefined;
  }
  const base = heritage.find(isTaskBase);
  const others = heritage.filter((other) => other !== base);
  for (const other of others) scope.report(other, "VC1223", { name, base: scope.text(other) });
  if (base?.kind !== "reference" || others.length > 0) return undefined;
  for (const member of members) scope.report(member, "VC1225", { name, member: member.name ?? scope.text(member) });
  const { doc, options } = readTags(declaration.comment, "task", scope);
  const [args, result] = base.args;
  const read = readResult(name, result, scope, context);
  return {
    key: key as DeclarationKey,
    name,
    doc,
    args: readArguments(name, args, scope, context),
    ...(read !== undefined && { result: read }),
    idempotent: options.idempotent,
    at: scope.at(declaration),
  };
}

/** Reads the labelled tuple in `Task<[n: number], number>`. */
function readArguments(
  name: string,
  type: SourceType | undefined,
  scope: FileScope,
  context: TypeContext,
): readonly Parameter[] {
  const refuse = (at: Span, why: string) => scope.report(at, "VC1226", { name, why });
  return readArgumentTuple(type, scope, `task ${name}`, context, refuse);
}

/** Reads the type of the result. Undefined: the task returns nothing. */
function readResult(
  name: string,
  type: SourceType | undefined,
  scope: FileScope,
  context: TypeContext,
): Type | undefined {
  if (type === undefined || isKeyword(type, "void")) return undefined;
  const wrong = streamed(type, scope) ?? wrongResult(type, scope, resultWords);
  if (wrong === undefined) return readType(type, scope, `${name}'s result`, context);
  return unsupported(type, scope, "VC1227", { name, type: scope.text(type), ...wrong });
}

const resultWords: ResultWords = {
  promised: "every caller gets a reference to the result in any case",
  implementation: "function",
  sequence: (item) => ({ why: "a task has one result", hint: `Return \`${item}[]\`.` }),
};

function streamed(type: SourceType, scope: FileScope): WrongResult | undefined {
  if (type.kind !== "reference" || type.origin !== "vocabulary" || type.name !== "Stream") return undefined;
  const [item] = type.args;
  const hint = `Return \`${item === undefined ? "T" : scope.text(item)}[]\`, or declare an actor with an endpoint that returns the stream.`;
  return { why: "a task has one result", hint };
}
