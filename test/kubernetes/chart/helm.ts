/** Runs Helm with the chart of the controller. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { peer, runPeer } from "../../peers.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The folder of the chart. */
export const chart = `${root}charts/controller`;

/** Whether Helm is here. Its tests are skipped otherwise. */
export const hasHelm = peer("helm") !== undefined;

export interface HelmRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Helm. @param values the values of the chart, if the command takes them */
export function helm(args: readonly string[], values?: object): HelmRun {
  const given = values === undefined ? [] : ["--values", "-"];
  const input = values === undefined ? {} : { input: Buffer.from(JSON.stringify(values)) };
  const { status, stdout, stderr } = runPeer("helm", [...args, ...given], input);
  return { status, stdout: stdout.toString(), stderr };
}

export interface ChartObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: The fields of an object depend on its kind.
  readonly [field: string]: any;
}

/** Returns the objects of a text of YAML. */
export function objectsIn(text: string): ChartObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as ChartObject);
}

/** The fields of the description of the chart, and those of the package. */
export const described = parseAllDocuments(readFileSync(`${chart}/Chart.yaml`, "utf8"))[0]!.toJS() as {
  readonly version: string;
  readonly appVersion: string;
};
export const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { readonly version: string };
