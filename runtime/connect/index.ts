/**
 * The interface between generated clients (`emit: ["connect"]`) and Viceroy, version 1. It runs in browsers and in
 * Node.js, and needs the packages `@connectrpc/connect` and `@bufbuild/protobuf`. Programs import `actorFailure` and the
 * types from it.
 *
 * @module
 */
export { createActorClient, type ServerStreamMethod, type UnaryMethod } from "./actor-client.js";
export { type ActorFailure, actorFailure } from "./actor-failure.js";
export type { ClientOptions } from "./client-options.js";
