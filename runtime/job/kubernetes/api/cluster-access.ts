/** Finds the way to a cluster: the kubeconfig file and its context, or the service account of the pod in which the program runs. */
import { existsSync, readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";
import type { ClusterAccess } from "./access.js";
import { type ClientNode, type KubeConfig, loadClientNode } from "./client-node.js";
import { podAccess, serviceAccountFolder } from "./pod-access.js";

/** Which cluster, and as whom. */
export interface AccessOptions {
  /** The kubeconfig file; null for the usual places. */
  readonly kubeconfig: string | null;
  /** The context; null for the current one. */
  readonly context: string | null;
}

/** The files and variables that a program reads. Tests give others. */
export interface AccessPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The folder of the service account of a pod. */
  readonly serviceAccount: string;
}

const usualPlaces: AccessPlaces = {
  env: process.env,
  home: homedir(),
  serviceAccount: serviceAccountFolder,
};

/**
 * Finds the access to a cluster.
 * @throws Error with what to do if there is none, the file cannot be used, or it has no such context
 */
export async function openAccess(options: AccessOptions, places: AccessPlaces = usualPlaces): Promise<ClusterAccess> {
  const file = findConfig(options, places);
  if (file === undefined) return podAccess(places.env, places.serviceAccount);
  const client = await loadClientNode();
  let config = readConfig(client, file, options.context);
  const server = serverOf(config, file);
  const who = `user "${config.getCurrentUser()?.name}" of context "${config.getCurrentContext()}"`;
  return {
    server,
    who,
    isInside: false,
    source: `context "${config.getCurrentContext()}" of ${file}`,
    async requestOptions() {
      const request: RequestOptions = {};
      await config.applyToHTTPSOptions(request);
      return request;
    },
    reload: () => {
      config = readConfig(client, file, options.context);
    },
  };
}

/** Finds the file as `kubectl` does. @returns undefined if there is none, and this program runs in a pod with a service account */
function findConfig(
  { kubeconfig, context }: AccessOptions,
  { env, home, serviceAccount }: AccessPlaces,
): string | undefined {
  if (kubeconfig !== null) return kubeconfig;
  const named = env["KUBECONFIG"]?.split(delimiter).filter((file) => file !== "") ?? [];
  const [first] = named.length === 0 ? [join(home, ".kube", "config")] : named;
  if (named.length > 1) {
    throw new Error(
      `cannot use Kubernetes: KUBECONFIG names ${named.length} files, which Viceroy does not merge; write them into one by ` +
        '"kubectl config view --flatten", or name one with the option kubeconfig',
    );
  }
  if (named.length === 1 || existsSync(first!)) return first!;
  if (env["KUBERNETES_SERVICE_HOST"] !== undefined && existsSync(join(serviceAccount, "token"))) {
    if (context === null) return undefined;
    throw new Error(
      `cannot use Kubernetes: the context "${context}" needs a kubeconfig file, and this pod has none; leave the context out ` +
        "to use the service account of the pod",
    );
  }
  throw new Error(
    `cannot use Kubernetes: there is no kubeconfig file ${first}, KUBECONFIG names none, and this program does not run in a ` +
      "pod with a service account; log in to a cluster, or name a file with the option kubeconfig",
  );
}

function readConfig({ KubeConfig }: ClientNode, file: string, context: string | null): KubeConfig {
  const config = new KubeConfig();
  try {
    readFileSync(file);
    config.loadFromFile(file);
  } catch (cause) {
    throw new Error(`cannot use Kubernetes: cannot read the kubeconfig file ${file}: ${errorMessage(cause)}`, {
      cause,
    });
  }
  const wanted = context ?? config.getCurrentContext();
  const names = (config.contexts ?? []).map(({ name }) => name);
  if (!names.includes(wanted)) {
    const has = names.length === 0 ? "none" : names.map((name) => `"${name}"`).join(", ");
    const which = wanted ? `no context "${wanted}"` : "no current context";
    throw new Error(`cannot use Kubernetes: the kubeconfig file ${file} has ${which}; its contexts: ${has}`);
  }
  config.setCurrentContext(wanted);
  return config;
}

function serverOf(config: KubeConfig, file: string): string {
  const server = config.getCurrentCluster()?.server;
  if (server !== undefined && URL.canParse(server)) return server.replace(/\/$/, "");
  throw new Error(
    `cannot use Kubernetes: the kubeconfig file ${file} names no API server for context "${config.getCurrentContext()}" that could be reached`,
  );
}
