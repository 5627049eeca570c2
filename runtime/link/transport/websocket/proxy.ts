/// <reference path="./proxy-from-env.d.ts" />
/**
 * Connections through the proxy that the environment names, as most programs make them: HTTPS_PROXY for `wss://`, HTTP_PROXY for
 * `ws://`, ALL_PROXY for both, and NO_PROXY for hosts that are reached without one. The proxy is asked with CONNECT for a
 * connection whose bytes it forwards.
 */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { getProxyForUrl } from "proxy-from-env";
import { MAX_HEADER_BYTES } from "./limits.js";
import { placeOf } from "./url.js";

/** Returns the proxy for a WebSocket; undefined if there is none. @throws TypeError if the environment names one that cannot be used */
export function proxyFor(url: URL): URL | undefined {
  // Variables are named after HTTP. This machine needs no proxy to reach itself.
  if (/^(?:localhost|\[::1\]|127(?:\.\d+){3})$/.test(url.hostname)) return undefined;
  const found = getProxyForUrl(url.href.replace(/^ws/, "http"));
  if (found === "") return undefined;
  const proxy = URL.canParse(found) ? new URL(found) : undefined;
  if (proxy?.protocol === "http:" || proxy?.protocol === "https:") return proxy;
  const shown = found.replace(/\/\/[^/]*@/, "//…@");
  throw new TypeError(
    `${variableFor(url)} names a proxy that cannot be used: expected http:// or https://, got ${shown}`,
  );
}

function variableFor({ protocol }: URL): string {
  return protocol === "wss:" ? "HTTPS_PROXY" : "HTTP_PROXY";
}

/** Connects to the host of a WebSocket through a proxy. @param signal aborts the attempt */
export function connectThroughProxy(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
  const target = placeOf(url);
  const path = `${target.host.includes(":") ? `[${target.host}]` : target.host}:${target.port}`;
  const { host, port } = placeOf(proxy);
  const request = proxy.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const asked = request({
      ...{ method: "CONNECT", host, port, path, signal, agent: false, maxHeaderSize: MAX_HEADER_BYTES },
      headers: { host: path, ...credentialsFor(proxy) },
    });
    asked.once("socket", (socket) => socket.unref());
    asked.once("connect", ({ statusCode = 0 }, socket: Socket, head) => {
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(refusalOf(statusCode, proxy, url, path));
    });
    asked.once("error", (error) => reject(signal.aborted ? signal.reason : unreachable(proxy, error)));
    asked.end();
  });
}

function credentialsFor({ username, password }: URL): { readonly "proxy-authorization"?: string } {
  if (username === "" && password === "") return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(text).toString("base64")}` };
}

function unreachable(proxy: URL, cause: NodeJS.ErrnoException): Error {
  const error = new Error(`cannot reach the proxy ${proxy.protocol}//${proxy.host}: ${cause.message}`, { cause });
  return cause.code === undefined ? error : Object.assign(error, { code: cause.code });
}

function refusalOf(status: number, proxy: URL, url: URL, target: string): Error {
  const name = `the proxy ${proxy.protocol}//${proxy.host}`;
  const code = `HTTP_${status}`;
  if (status !== 407)
    return Object.assign(new Error(`${name} does not connect to ${target}: HTTP ${status}`), { code });
  const form = `${proxy.protocol}//user:password@${proxy.host}`;
  const advice =
    proxy.username === ""
      ? `asks for a user and a password; give them in ${variableFor(url)}, as ${form}`
      : `does not accept the user and the password of ${variableFor(url)}`;
  return Object.assign(new Error(`${name} ${advice} (HTTP 407)`), { code });
}
