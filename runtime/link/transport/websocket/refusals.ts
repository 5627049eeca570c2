/** The errors of WebSockets that do not open: what answered in place of a driver gateway, and what to do. */
import type { IncomingMessage } from "node:http";
import { notTlsCodes, untrustedCodes } from "../tls/error-codes.js";
import { formatWebSocketUrl } from "./url.js";

/** Explains an answer of HTTP in place of a WebSocket. The code of the error is `HTTP_` and the status. */
export function explainAnswer({ statusCode = 0, headers }: IncomingMessage, url: URL): Error {
  const { location } = headers;
  const redirects = statusCode >= 300 && statusCode < 400 && location !== undefined;
  const why = redirects ? redirectText(location, url) : (advice(url)[statusCode] ?? usualText(statusCode));
  return Object.assign(new Error(`HTTP ${statusCode}: ${why}`), { code: `HTTP_${statusCode}` });
}

function advice({ pathname, username }: URL): { readonly [status: number]: string } {
  const unreachable =
    "what is in front of the driver gateway does not reach it; see whether a host listens at ws:// there";
  return {
    401:
      username === ""
        ? "what is in front of the driver gateway asks for a user and a password; give them as wss://user:password@host, or " +
          "let it ask for none here, because drivers prove themselves to the driver gateway"
        : "what is in front of the driver gateway does not accept the user and the password of the URL",
    403: "what is in front of the driver gateway forbids this; allow WebSockets of this machine at this path",
    404: `nothing is at the path ${pathname}; compare it with the path that leads to the driver gateway`,
    407: "a proxy asks for a user and a password; give them in HTTPS_PROXY, as http://user:password@host:port",
    426:
      "a proxy in front of the driver gateway does not pass the upgrade on; let it speak HTTP/1.1 and forward the headers " +
      "Upgrade and Connection",
    502: unreachable,
    503: unreachable,
    504: unreachable,
  };
}

function usualText(status: number): string {
  if (status >= 200 && status < 300) {
    return "something that is no driver gateway answered, or a proxy has removed the header Upgrade; compare the host, the port and the path";
  }
  return "the WebSocket was refused by what answers there";
}

/** @param location what the answer says, which may be anything */
function redirectText(location: string, url: URL): string {
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  const shown =
    target === undefined ? JSON.stringify(location.slice(0, 200)) : formatWebSocketUrl(target).replace(/^http/, "ws");
  return `the answer is a redirection to ${shown}, which is not followed; use that URL if it is the right one`;
}

/** Explains why no answer came. Codes of the system are kept, because they say whether another attempt may succeed. */
export function explainFailure(error: NodeJS.ErrnoException, { host }: URL): Error {
  const { code, message } = error;
  const explained = (text: string) => {
    const made = new Error(text, { cause: error });
    return code === undefined ? made : Object.assign(made, { code });
  };
  if (code === undefined) return explained(`something that is no driver gateway answered: ${message}`);
  if (code.startsWith("HPE_")) return explained(`something that does not speak HTTP answered: ${message}`);
  if (code === "EPROTO" || notTlsCodes.has(code))
    return explained(`${host} does not speak TLS; use ws:// in the URL: ${message}`);
  if (untrustedCodes.test(code)) {
    return explained(
      `this process does not trust the certificate of ${host}: ${message}; if it is of an authority of your own, start ` +
        "this program with the variable NODE_EXTRA_CA_CERTS, which names the file of the authority",
    );
  }
  if (code === "ECONNRESET") return explained(`the connection ended before the WebSocket was open: ${message}`);
  return error;
}
