/**
 * The parts of the runtime that jobs use. Jobs are a separate bundle, so that programs without jobs do not load it. It
 * must share these parts with the program, which has one instance of them.
 */
export { ownActorEnd } from "../actor/context.js";
export { attachRoutedHosts, type JobHosts } from "../host/attach-hosts.js";
export type { HostFinder } from "../host/attached/host-returns.js";
export type { CodePlace } from "../host/attached/hosts-code.js";
export { detachHosts, HandOverRefusedError } from "../host/hand-over/detach-hosts.js";
export type { ContextUse, HostDescription } from "../host/mesh/describe-hosts.js";
export { type HostMesh, joinHosts, ownHosts } from "../host/mesh/host-mesh.js";
export type { SyncOptions, SyncReport } from "../host/mesh/sync-options.js";
export { publishedNames } from "../host/publish/published-names.js";
export { secureConnection } from "../link/transport/connect.js";
export { FileCredentials, type TlsFiles } from "../link/transport/tls/credentials.js";
export { locatePath } from "../proc/platform/program-places.js";
export type { DialHost } from "../proc/remote/host-route.js";
export { version } from "../version.js";
