/** Starts daemons that listen for WebSockets, too. */
import { until } from "../../proc/until.js";
import { type RunningHost, startHost } from "../start-host.js";

export interface WebSocketHost extends RunningHost {
  /** The URL at which it accepts WebSockets, without an identity. */
  readonly url: string;
  readonly port: number;
}

/** @param listen the address at which other hosts reach it */
export async function startWebSocketHost(
  listen: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<WebSocketHost> {
  const host = await startHost(listen, [...args, "--listen", "ws://127.0.0.1:0"], env);
  const found = () => /listens at (ws:\/\/127\.0\.0\.1:(\d+))/.exec(host.output.text);
  const other = () => /listens at ((?:tcp|tls):\S+)/.exec(host.output.text);
  await until(() => found() !== null && other() !== null);
  return { ...host, address: other()![1]!, url: found()![1]!, port: Number(found()![2]) };
}
