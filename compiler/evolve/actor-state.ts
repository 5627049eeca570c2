/** The states of actors, which checkpoints contain: their declarations, and the messages that these become. */
import type { ActorDeclaration, SchemaIndex, Type, TypeDeclaration } from "../model/index.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";

/** Returns the declaration of an actor's state, which aliases can stand for. */
export function stateOf({ state }: ActorDeclaration, index: SchemaIndex): TypeDeclaration | undefined {
  return state && declarationOf(state, index);
}

function declarationOf(type: Type, index: SchemaIndex): TypeDeclaration | undefined {
  if (type.kind !== "ref") return undefined;
  const declaration = index.type(type.target);
  return declaration.shape.kind === "alias" ? declarationOf(declaration.shape.type, index) : declaration;
}

/** Returns the full name of the message that a declaration has become. */
export function messageOf({ schema, origins }: LoweredSchema, { name, at }: TypeDeclaration): string | undefined {
  return [...schema.messages.keys()].find((message) => {
    const origin = origins.get(message);
    return origin?.place === name && origin.at.file === at.file && origin.at.line === at.line;
  });
}
