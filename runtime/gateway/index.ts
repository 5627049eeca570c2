/**
 * Serves actors to clients outside the mesh, in any language that speaks Connect, gRPC or gRPC-web. It needs the
 * packages `@connectrpc/connect` and `@bufbuild/protobuf`.
 *
 * @module
 */
export { connectError, type ErrorCodes } from "./connect-error.js";
export { type ConnectRoutesOptions, connectRoutes } from "./connect-routes.js";
export { type ConnectService, connectService } from "./connect-service.js";
