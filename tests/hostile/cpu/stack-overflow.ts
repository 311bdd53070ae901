// kind: runtime
function down(): number {
  return down() + 1;
}
down();
