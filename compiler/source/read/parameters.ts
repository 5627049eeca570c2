/** Reads the parameters and results of functions: of endpoints, constructors and tasks. */
import type { Parameter, Type } from "../../model/index.js";
import type { SourceParameter, SourceType, Span } from "../type-source.js";
import type { FileScope } from "./context.js";
import { withoutUndefined } from "./messages.js";
import { readType, type TypeContext } from "./types.js";
import { isKeyword } from "./unions.js";

/**
 * Reads the parameters that a labelled tuple lists: `[initial: Int32, step?: Int32]`.
 *
 * @param type undefined if there are no parameters
 * @param owner the function that has the parameters, for messages
 * @param refuse reports why the type is not such a tuple
 */
export function readArgumentTuple(
  type: SourceType | undefined,
  scope: FileScope,
  owner: string,
  context: TypeContext,
  refuse: (at: Span, why: string) => void,
): readonly Parameter[] {
  if (type === undefined) return [];
  const tuple = resolveTuple(type, scope);
  if (tuple === undefined) {
    refuse(type, `${scope.text(type)} is not an explicit tuple`);
    return [];
  }
  const { elements } = tuple.type;
  const params = elements.map(
    (element, i): SourceParameter => ({
      start: element.type.start,
      end: element.type.end,
      name: element.name ?? `arg${i + 1}`,
      optional: element.optional,
      rest: element.rest,
      type: element.type,
    }),
  );
  return readParameters(params, tuple.scope, owner, context);
}

type Tuple = SourceType & { readonly kind: "tuple" };

function resolveTuple(
  type: SourceType,
  scope: FileScope,
): { readonly type: Tuple; readonly scope: FileScope } | undefined {
  if (type.kind === "tuple") return { type, scope };
  if (type.kind !== "reference" || type.key === undefined || type.args.length > 0) return undefined;
  const target = scope.context.source.declaration(type.key);
  return target?.type?.kind === "tuple" ? { type: target.type, scope: scope.context.scope(target.file) } : undefined;
}

export function readParameters(
  params: readonly SourceParameter[],
  scope: FileScope,
  owner: string,
  context: TypeContext,
): readonly Parameter[] {
  const read: Parameter[] = [];
  for (const param of params) {
    const { name, type } = param;
    if (name === undefined || name === "this") {
      const why = name === undefined ? `${scope.text(param)} is a pattern` : "its name is this";
      scope.report(param, "VC1211", { owner, why });
    } else if (param.rest) {
      scope.report(param, "VC1209", { owner, name });
    } else {
      const present = type && withoutUndefined(type);
      const optional = param.optional || present !== undefined;
      if (!optional && read.some((other) => other.optional)) scope.report(param, "VC1210", { owner, name });
      read.push({
        name,
        id: 0,
        type: parameterType(present ?? type, param, scope, `${owner}(${name})`, context),
        optional,
        at: scope.at(param),
      });
    }
  }
  return read;
}

function parameterType(
  type: SourceType | undefined,
  param: Span,
  scope: FileScope,
  owner: string,
  context: TypeContext,
): Type {
  if (type !== undefined) return readType(type, scope, owner, context);
  return { kind: "unsupported", reason: "it has no type", typeText: scope.text(param), fixHint: "" };
}

/** Why a function cannot have a result, and what to write instead. */
export interface WrongResult {
  readonly why: string;
  readonly hint: string;
}

/** The words of messages about results that differ between endpoints and tasks. */
export interface ResultWords {
  /** Why the result is not a promise, and what implements the function. */
  readonly promised: string;
  readonly implementation: string;
  /** Returns what to write instead of a sequence of `item`. */
  sequence(item: string): WrongResult;
}

/** Returns why a function cannot have a result of this type, or undefined if it can. */
export function wrongResult(type: SourceType, scope: FileScope, words: ResultWords): WrongResult | undefined {
  if (isKeyword(type, "undefined")) return { why: "nothing is `void` here", hint: "Return `void`." };
  if (type.kind !== "reference" || type.origin !== "global") return undefined;
  const [of] = type.args;
  const inner = of === undefined ? "T" : scope.text(of);
  if (/^Promise(Like)?$/.test(type.name)) {
    return { why: words.promised, hint: `Return \`${inner}\`. The ${words.implementation} can be async.` };
  }
  if (/^(Async)?(Iterable|Iterator|IterableIterator|Generator)$/.test(type.name)) return words.sequence(inner);
  return undefined;
}
