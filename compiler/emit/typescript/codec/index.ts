/** Codecs of a schema file. */
import type { Endpoint, Module } from "../../../model/index.js";
import type { ActorDeclaration } from "../../../model/schema.js";
import type { Type } from "../../../model/type.js";
import { type Code, code, type FileBuilder } from "../../kit/index.js";
import type { EmitContext } from "../context.js";
import { abiType } from "../names.js";

/** How descriptors refer to the codecs that `emitCodecs` has written. Every answer is an expression. */
export interface ModuleCodecs {
  /** The codec of the arguments of a constructor or an endpoint, as one tuple, without the port of `@respond`. */
  args(owner: ActorDeclaration | Endpoint): Code;
  /** The codec of a type: of a result, an item of a stream, what a port takes. */
  of(type: Type): Code;
}

/** Writes the codecs of all types of `module`, and of the arguments of its actors. */
export function emitCodecs(file: FileBuilder, module: Module, context: EmitContext): ModuleCodecs {
  for (const { key, typeParameters } of module.types) {
    if (typeParameters.length > 0) continue;
    const type = code`${abiType("Codec")}<${context.type(key)}>`;
    file.blank();
    file.line(code`export declare const ${context.codec(key)}: ${type};`);
  }
  return {
    args: () => "undefined as never",
    of: () => "undefined as never",
  };
}
