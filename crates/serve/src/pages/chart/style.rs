//! The style sheet of a chart page.

/// Colours are custom properties, so that dark and light differ in one place. Lines also differ
/// in their dashes, for eyes that do not tell the colours apart.
pub(crate) const STYLE: &str = "
:root{color-scheme:light dark;--page:#fff;--card:#f6f7f9;--ink:#1a2027;--muted:#55606e;--grid:#e1e5ea;--zero:#8a94a1;--edge:#d5dae1;--link:#0b5fb5;
--s0:#0b6bcb;--s1:#c8500a;--s2:#2a8040;--s3:#8f3fb0;--s4:#b3204d;--s5:#0a7f8c;--s6:#9a7400;--s7:#5a6270;--s8:#5b4be0;--s9:#7d5a45}
@media (prefers-color-scheme:dark){:root{--page:#12161c;--card:#1a2028;--ink:#e8ecf1;--muted:#a3adba;--grid:#2b333e;--zero:#6b7684;--edge:#343d49;--link:#7cb8ff;
--s0:#5aa9ff;--s1:#ff9552;--s2:#63c97f;--s3:#cf8cee;--s4:#ff7d9f;--s5:#4fd0de;--s6:#e3bf45;--s7:#aab4c2;--s8:#a99bff;--s9:#d3a68c}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}
main{max-width:1040px;margin:0 auto;padding:24px 20px 48px}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 6px;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:32px 0 8px}
p{margin:0 0 12px;max-width:70ch;overflow-wrap:anywhere}
.lead{color:var(--muted)}
.above{font-size:.9rem;color:var(--muted);margin:0 0 6px}
a{color:var(--link)}
figure{--under:var(--card);margin:16px 0 0;padding:16px;background:var(--card);border:1px solid var(--edge);border-radius:10px}
svg{display:block;width:100%;height:auto}
svg.narrow{display:none}
.grid{stroke:var(--grid)}.zero{stroke:var(--zero)}
.label{font-size:12px;fill:var(--muted);font-variant-numeric:tabular-nums}
.line{fill:none;stroke:var(--c);stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}
.dash1{stroke-dasharray:7 4}.dash2{stroke-dasharray:2 4}.dash3{stroke-dasharray:10 4 2 4}.dash4{stroke-dasharray:14 4}
.point{fill:var(--card);stroke:var(--c);stroke-width:2}.point.faint{fill:transparent;stroke:transparent}
.hit{fill:transparent}
.tip{display:none;font-size:13px;font-weight:600;fill:var(--ink);stroke:var(--card);stroke-width:5px;paint-order:stroke;pointer-events:none}
.mark{cursor:pointer;outline:none}.mark:hover .tip,.mark:focus .tip{display:block}.mark:hover .point,.mark:focus .point{fill:var(--c)}
.under{fill:var(--under,var(--page))}.area{fill:var(--c);opacity:.35}
.bar{fill:var(--c)}
.slice{fill:var(--c);stroke:var(--card);stroke-width:2}.nothing{fill:none;stroke:var(--grid);stroke-width:40}
.wide .label{font-size:13px}
.share{font-size:12px;font-weight:600;fill:var(--page)}.wide .share{font-size:15px}
.s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}.s5{--c:var(--s5)}.s6{--c:var(--s6)}.s7{--c:var(--s7)}.s8{--c:var(--s8)}.s9{--c:var(--s9)}
.legend{display:flex;flex-wrap:wrap;gap:6px 18px;list-style:none;margin:12px 0 0;padding:0;font-size:.9rem}
.legend li{display:flex;align-items:center;gap:8px;min-width:0;overflow-wrap:anywhere}
.legend label{display:flex;align-items:center;gap:8px;min-height:32px;cursor:pointer}
.legend input{accent-color:var(--link);width:18px;height:18px;margin:0}
.legend svg{width:26px;height:12px;flex:none}
figure:has(#show0:not(:checked)) .g0{display:none}figure:has(#show1:not(:checked)) .g1{display:none}figure:has(#show2:not(:checked)) .g2{display:none}figure:has(#show3:not(:checked)) .g3{display:none}figure:has(#show4:not(:checked)) .g4{display:none}figure:has(#show5:not(:checked)) .g5{display:none}figure:has(#show6:not(:checked)) .g6{display:none}figure:has(#show7:not(:checked)) .g7{display:none}figure:has(#show8:not(:checked)) .g8{display:none}figure:has(#show9:not(:checked)) .g9{display:none}
.notes{border-left:4px solid var(--s6);background:var(--card);padding:10px 14px;margin:16px 0 0;list-style:none}
.data{margin:16px 0 0}
.scroll{overflow-x:auto;border:1px solid var(--edge);border-radius:8px;margin:12px 0 0}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:10px 12px}
th,td{padding:7px 12px;text-align:right;border-top:1px solid var(--grid);white-space:nowrap}
thead th{color:var(--muted);font-weight:600;vertical-align:bottom;white-space:normal;min-width:7.5em;overflow-wrap:anywhere}
th:first-child{text-align:left}
tbody th{font-weight:500;white-space:normal}
.unit{font-weight:400;font-size:.85em}
dl{margin:0}dt{font-weight:600;margin-top:10px;overflow-wrap:anywhere}dd{margin:0;color:var(--muted);overflow-wrap:anywhere}
footer{margin-top:32px;color:var(--muted);font-size:.85rem}
@media (max-width:719px){main{padding:16px 12px 32px}h1{font-size:1.3rem}figure{padding:10px 8px}svg.wide{display:none}svg.narrow{display:block}}
@media print{figure,.scroll{break-inside:avoid;border-color:#999}}
";
