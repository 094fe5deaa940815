# The address is a placeholder, see packaging/README.md. Built from source with the dist profile. The release workflow writes the address and the sum, and puts the formula on the release page.
class DowseSearch < Formula
  desc "One search server for AI agents, over MCP"
  homepage "https://github.com/dowse-search/dowse"
  url "https://github.com/dowse-search/dowse/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["Apache-2.0", "MIT"]

  depends_on "rust" => :build

  def install
    system "cargo", "build", "--locked", "--profile", "dist", "--package", "dowse", "--bin", "dowse"
    bin.install "target/dist/dowse"
    generate_completions_from_executable(bin/"dowse", "completions")
  end

  test do
    (testpath/"notes").mkpath
    (testpath/"notes/a.md").write "a remote work allowance of 500 euros"
    system bin/"dowse", "index", "--no-model", testpath/"notes"
    output = shell_output("#{bin}/dowse search --no-model --root #{testpath}/notes allowance")
    assert_match "a.md", output
  end
end
