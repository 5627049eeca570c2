/** Prints findings: a table with a row for each host, and below it what is to be done; or JSON, one finding per line. */
import { type Finding, hostChecks } from "./finding.js";

const marks = { ok: "ok", note: "note", problem: "FAIL" } as const;

/** Returns the lines of the report. @param hosts the hosts in their order */
export function reportLines(hosts: readonly string[], findings: readonly Finding[], isJson: boolean): string[] {
  if (isJson) return findings.map((finding) => JSON.stringify(finding));
  const problems = findings.filter(({ level }) => level === "problem").length;
  return [
    ...table(hosts, findings),
    ...findings.filter(({ level }) => level !== "ok").flatMap(describe),
    problems === 0 ? "No problems." : `${problems} ${problems === 1 ? "problem" : "problems"}.`,
  ];
}

function table(hosts: readonly string[], findings: readonly Finding[]): string[] {
  const rows = hosts.map((host) => [
    host,
    ...hostChecks.map((check) => {
      const found = findings.find((finding) => finding.host === host && finding.check === check);
      return found === undefined ? "-" : marks[found.level];
    }),
  ]);
  const cells = [["host", ...hostChecks], ...rows];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}

function describe({ host, check, level, text, advice }: Finding): string[] {
  const [first, ...further] = text.split("\n");
  const lines = [`${marks[level]} ${host}: ${check}: ${first}`, ...further.map((line) => `     ${line}`)];
  return advice === undefined ? lines : [...lines, `     ${advice}`];
}
