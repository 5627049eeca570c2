/**
 * Loads `@kubernetes/client-node`, which knows all ways in which users log in. It is an optional peer: a program does not need it whose kubeconfig file
 * contains the credentials.
 */

import { createRequire } from "node:module";

/** The part of the package that jobs use. Its versions 1.4 and 2 both have it. */
export interface ClientNode {
  readonly KubeConfig: new () => KubeConfig;
}

/** A configuration of the package: clusters, users and contexts. */
export interface KubeConfig {
  loadFromFile(file: string): void;
  setCurrentContext(context: string): void;
  /** Writes the certificates, headers and the agent of the user and the cluster into the options of a request. */
  applyToHTTPSOptions(options: object): Promise<void>;
}

/** The versions that jobs are tested with, as `peerDependencies` of package.json names them. */
const usable = /^(?:1\.(?:[4-9]|\d{2,})|2\.\d+)\./;

/** Installs the newest version that loads on all versions of Node.js that Viceroy runs on. */
const installCommand = "npm install @kubernetes/client-node@1.4";

let loading: Promise<ClientNode> | undefined;

/**
 * Loads the package once.
 * @throws Error with what to do if it is not installed, or its version cannot be used
 */
export function loadClientNode(): Promise<ClientNode> {
  loading ??= checkedClientNode(importPackage, installedVersion());
  return loading;
}

// The declarations of the package are not needed to compile Viceroy's own ones.
const importPackage = (): Promise<unknown> => import("@kubernetes/client-node" as string);

/** Returns the version of the package; undefined if it is not installed, or does not tell. */
function installedVersion(): string | undefined {
  try {
    const { version } = createRequire(import.meta.url)("@kubernetes/client-node/package.json") as { version?: string };
    return version;
  } catch {
    return undefined;
  }
}

/**
 * Loads the package and checks it. Exported for tests.
 * @param load loads the package
 * @param version its version; undefined if it is not known
 */
export async function checkedClientNode(
  load: () => Promise<unknown>,
  version: string | undefined,
): Promise<ClientNode> {
  if (version !== undefined && !usable.test(version)) {
    throw new Error(
      `cannot use Kubernetes: @kubernetes/client-node ${version} is installed, and jobs need 1.4 or a later version 1, or ` +
        `version 2: ${installCommand}`,
    );
  }
  let found: unknown;
  try {
    found = await load();
  } catch (cause) {
    throw new Error(whyNotLoaded(cause), { cause });
  }
  const { KubeConfig } = found as Partial<ClientNode>;
  if (typeof KubeConfig?.prototype?.applyToHTTPSOptions === "function") return found as ClientNode;
  throw new Error(
    `cannot use Kubernetes: the installed package @kubernetes/client-node has no KubeConfig that signs requests: ${installCommand}`,
  );
}

function whyNotLoaded(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  const isMissing = code === "ERR_MODULE_NOT_FOUND" && message.includes("@kubernetes/client-node");
  if (isMissing)
    return `cannot use Kubernetes: the package @kubernetes/client-node is not installed: ${installCommand}`;
  return (
    `cannot use Kubernetes: @kubernetes/client-node does not load on Node.js ${process.versions.node}: ${message}; ` +
    `its version 2 needs Node.js 22.19 or newer, and version 1.4 works on all: ${installCommand}`
  );
}
