"""The page's one style sheet: readable at 1200 px and on a phone, light and dark by the reader's own setting."""

CSS = """
:root{--bg:#fbfbf9;--card:#fff;--ink:#1c1e21;--dim:#666b73;--line:#e3e4e0;--good:#1a7f45;--bad:#b3261e;--warn:#8a5a00;
--goodbg:#e7f4ec;--badbg:#fbeae8;--warnbg:#fbf2dc;--notebg:#eef1f6;
--k0:#2563c9;--k1:#c2500f;--k2:#16855f;--k3:#8b45b5;--k4:#b4285f;--k5:#5b7a12;--k6:#0f7f92;--k7:#7a5a3a}
@media(prefers-color-scheme:dark){:root{--bg:#14161a;--card:#1c1f25;--ink:#e7e8ea;--dim:#9aa0a9;--line:#30343c;--good:#5fd08f;
--bad:#ff8a80;--warn:#f0c060;--goodbg:#16301f;--badbg:#3a1d1b;--warnbg:#362b12;--notebg:#232833;
--k0:#78a9ff;--k1:#ff9a5c;--k2:#4fd0a0;--k3:#cf9bff;--k4:#ff86b0;--k5:#b4d455;--k6:#5fd3e6;--k7:#d0a97c}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:15px;font-weight:600;color:var(--dim);margin:0 0 6px;overflow-wrap:anywhere}
h2{font-size:19px;margin:44px 0 12px}
.verdict{font-size:25px;line-height:1.32;font-weight:620;letter-spacing:-.01em;margin:0 0 14px;max-width:36em;text-wrap:pretty}
.verdict.many{font-size:19px}
.facts{display:flex;flex-wrap:wrap;gap:4px 22px;color:var(--dim);font-size:14px;margin:0 0 18px;padding:0;list-style:none}
.facts b{color:var(--ink);font-weight:600}
.findings{list-style:none;margin:0;padding:0;display:grid;gap:8px}
.findings li{border-left:3px solid var(--line);background:var(--notebg);padding:8px 12px;border-radius:0 6px 6px 0;font-size:15px}
.findings .good{border-color:var(--good);background:var(--goodbg)}.findings .warn{border-color:var(--warn);background:var(--warnbg)}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:16px}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 12px 6px;min-width:0}
figure.wide{grid-column:1/-1}
figcaption{font-size:14px;font-weight:600;display:flex;flex-wrap:wrap;justify-content:space-between;gap:2px 12px;margin:0 2px 4px}
figcaption small{font-weight:400;color:var(--dim);font-size:13px}
.narrow{display:none}@media(max-width:700px){.narrow{display:block}.broad{display:none}}
svg{display:block;width:100%;height:auto}
svg .grid{stroke:var(--line);stroke-width:1}svg .tick{fill:var(--dim);font-size:15px;font-family:inherit;font-variant-numeric:tabular-nums}
svg .line{fill:none;stroke:var(--k);stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}svg .dashed{stroke-dasharray:5 5}
svg .raw{fill:none;stroke:var(--k);stroke-width:1;opacity:.28}svg .band{fill:var(--k);opacity:.16;stroke:none}svg .dot{fill:var(--k)}
.c0{--k:var(--k0)}.c1{--k:var(--k1)}.c2{--k:var(--k2)}.c3{--k:var(--k3)}.c4{--k:var(--k4)}.c5{--k:var(--k5)}.c6{--k:var(--k6)}.c7{--k:var(--k7)}
.legend{display:flex;flex-wrap:wrap;gap:2px 14px;font-size:13px;color:var(--dim);margin:0 2px 4px;padding:0;list-style:none}
.legend li{overflow-wrap:anywhere}
.legend i,.split i{display:inline-block;width:10px;height:10px;border-radius:3px;background:var(--k);margin-right:6px}
.bar{display:flex;height:22px;border-radius:6px;overflow:hidden;margin:6px 2px 8px}.bar span{background:var(--k);min-width:2px}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:10px;background:var(--card)}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:7px 12px;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
tr:last-child td{border-bottom:0}th{color:var(--dim);font-weight:600;white-space:nowrap}
td.key,code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:13px}
td{overflow-wrap:break-word}td:not(.key){min-width:5em}.rank td{white-space:nowrap}td.key{overflow-wrap:anywhere;min-width:9em}
.mark{display:inline-block;width:10px;height:10px;border-radius:3px;background:var(--k);margin-right:8px}
.samples{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:14px}
.sample{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--line);border-radius:8px;padding:10px 12px;
min-width:0}
.sample.right{border-left-color:var(--good)}.sample.wrong{border-left-color:var(--bad)}.sample.unknown{border-left-color:var(--warn)}
.sample p{margin:0 0 6px;font-size:13px;color:var(--dim)}
pre{margin:0 0 8px;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;max-height:16em;overflow:auto;
font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,monospace}
pre.ask{color:var(--dim)}
.reason{display:inline-block;font-size:13px;border-radius:5px;padding:1px 8px;margin:0 6px 4px 0;unicode-bidi:isolate;
overflow-wrap:anywhere}
.reason.right{background:var(--goodbg);color:var(--good)}.reason.wrong{background:var(--badbg);color:var(--bad)}
.reason.unknown{background:var(--warnbg);color:var(--warn)}
details{margin-top:14px}summary{cursor:pointer;font-weight:600}
footer{margin-top:48px;color:var(--dim);font-size:13px}
@media(max-width:600px){main{padding:18px 12px 40px}.verdict{font-size:20px}.verdict.many{font-size:17px}h2{margin-top:32px}
th,td{padding:6px 8px}
svg .tick{font-size:16px}}
@media print{body{background:#fff}figure,.sample{break-inside:avoid}}
"""
