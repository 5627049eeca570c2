/** The URL of a driver gateway that the environment names, for programs that say nothing about their way to the hosts. */

import { errorMessage } from "../../../shared/text/error-message.js";
import { parseWebSocketUrl } from "../../link/transport/websocket/url.js";

const variable = "VICEROY_API_URL";

/**
 * Returns the URL, as `through` takes it; undefined if the variable is not set, or empty.
 * @throws {TypeError} when the variable is no URL of a WebSocket
 */
export function gatewayUrlFrom(environment: NodeJS.ProcessEnv): string | undefined {
  const url = environment[variable];
  if (url === undefined || url === "") return undefined;
  try {
    if (!/^wss?:\/\//.test(url)) throw new TypeError("expected wss://host/path or ws://host:port/path");
    parseWebSocketUrl(url);
    return url;
  } catch (cause) {
    // The value may contain a password, and the reason does not.
    throw new TypeError(
      `cannot attach hosts: the variable ${variable} is no URL of a driver gateway: ${errorMessage(cause)}; correct it, or ` +
        "remove it from the environment",
      { cause },
    );
  }
}
