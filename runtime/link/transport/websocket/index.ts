/**
 * WebSockets, as one module of its own with the library that it uses: hosts that listen at `ws://` and drivers that dial a URL
 * load it when they need it.
 */
export { type DialWebSocketOptions, dialWebSocket } from "./dial.js";
export { listenWebSocket, type WebSocketListenerOptions } from "./listen.js";
export type { MessageFraming } from "./pipe.js";
