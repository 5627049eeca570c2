/**
 * `viceroy/gateway`: actors for clients that are not part of the mesh, in any language that speaks Connect, gRPC or
 * gRPC-web. Needs `@connectrpc/connect` and `@bufbuild/protobuf` beside Viceroy.
 */
export { connectError, type ErrorCodes } from "./error.js";
export { type ConnectRoutesOptions, connectRoutes } from "./routes.js";
export { type ConnectService, connectService } from "./service.js";
