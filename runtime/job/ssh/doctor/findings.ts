/** Judges what is known of a host: one finding for each check that could be made. Pure. */
import { causeOf } from "../end-advice.js";
import { type DriverFacts, type Finding, type HostCheck, hostChecks, type Judge } from "./finding.js";
import { processFindings } from "./node-findings.js";
import type { HostFacts } from "./probed-host.js";
import { machineFindings } from "./shell-findings.js";

/** The exit code of `ssh` when it has failed itself. */
const sshFailed = 255;

/** Returns the findings about a host, in the order of the checks. */
export function findingsOf(facts: HostFacts, driver: DriverFacts): readonly Finding[] {
  const judge: Judge = (check, level, text, advice) => {
    const finding = { host: facts.host, check, level, text };
    return advice === undefined ? finding : { ...finding, advice };
  };
  const findings = facts.said.has("shell")
    ? [...arrival(judge), ...machineFindings(facts, judge), ...processFindings(facts, driver, judge)]
    : connectionFindings(facts, judge);
  return [...findings].sort((a, b) => hostChecks.indexOf(a.check) - hostChecks.indexOf(b.check));
}

/** The checks that a host has passed whose shell runs. */
function arrival(judge: Judge): readonly Finding[] {
  return [
    judge("name", "ok", "its name leads to an address"),
    judge("connect", "ok", "a server of ssh answers"),
    judge("key", "ok", "its key is known"),
    judge("login", "ok", "it lets the user in without a question"),
  ];
}

/** Returns what is known of a host whose shell has said nothing. */
function connectionFindings({ host, output, endCode, startError }: HostFacts, judge: Judge): readonly Finding[] {
  if (startError !== undefined) {
    const advice = "install a client of OpenSSH on this machine, and put it on the PATH";
    return [judge("connect", "problem", `ssh cannot be started here: ${startError}`, advice)];
  }
  const said = output === "" ? "it printed nothing" : output;
  if (endCode === undefined) {
    const advice = `try "ssh ${host} true": it must end by itself, without a question`;
    return [judge("connect", "problem", `ssh did not end in time: ${said}`, advice)];
  }
  if (endCode === sshFailed) {
    const { check = "connect", advice = `try "ssh -v ${host} true"` } = causeOf(output, host) ?? {};
    const passed = arrival(judge).filter((finding) => isBefore(finding.check, check));
    return [...passed, judge(check, "problem", said, advice)];
  }
  const advice =
    'the login shell of the user there must run commands: see the last field of "getent passwd", and change it with ' +
    `"chsh"; try "ssh ${host} /bin/sh -c true"`;
  return [
    ...arrival(judge),
    judge("shell", "problem", `the login shell ended with exit code ${endCode}: ${said}`, advice),
  ];
}

function isBefore(check: HostCheck, other: HostCheck): boolean {
  return hostChecks.indexOf(check) < hostChecks.indexOf(other);
}
