/** The script of a page that calls shops. Tests call `runScenario` in the page. */
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { createShopClient } from "../generated/connect/shop.js";
import { type Scenario, scenarios } from "./scenarios.js";

export interface PageCall {
  readonly scenario: string;
  readonly caller: string;
  readonly baseUrl: string;
  readonly protocol: "Connect, JSON" | "Connect, binary" | "gRPC-web";
  readonly token?: string;
}

async function runScenario({ scenario, caller, baseUrl, protocol, token }: PageCall): Promise<unknown> {
  const options = {
    baseUrl,
    useBinaryFormat: protocol === "Connect, binary",
    interceptors: [
      (next: (request: never) => never) => (request: { readonly header: Headers }) => {
        if (token !== undefined) request.header.set("Authorization", `Bearer ${token}`);
        return next(request as never);
      },
    ] as never[],
  };
  const transport = protocol === "gRPC-web" ? createGrpcWebTransport(options) : createConnectTransport(options);
  return (scenarios as Readonly<Record<string, Scenario>>)[scenario]!(createShopClient(transport), caller);
}

Object.assign(globalThis, { runScenario });
