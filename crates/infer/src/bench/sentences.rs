//! A question and its answer in four languages, twenty-four times: enough to tell a working model
//! from a broken one, and not more.

/// A question in English, and the same answer in English, Japanese, Chinese and Romanian.
pub(super) struct Sentence {
    pub(super) question: &'static str,
    /// In the order of [`LANGUAGES`].
    pub(super) answers: [&'static str; 4],
}

/// The languages of the answers.
pub(super) const LANGUAGES: [&str; 4] = ["en", "ja", "zh", "ro"];

const fn entry(question: &'static str, answers: [&'static str; 4]) -> Sentence {
    Sentence { question, answers }
}

pub(super) const SENTENCES: &[Sentence] = &[
    entry(
        "When does the library open on Sunday?",
        [
            "The town library is open from ten to four on Sundays.",
            "市立図書館は日曜日、十時から四時まで開いています。",
            "市图书馆星期日上午十点到下午四点开放。",
            "Biblioteca orașului este deschisă duminica între orele zece și șaisprezece.",
        ],
    ),
    entry(
        "How do I reset a forgotten password?",
        [
            "Click the link under the login form and we will e-mail you a new password.",
            "ログイン画面の下のリンクを押すと、新しいパスワードがメールで届きます。",
            "点击登录框下方的链接，我们会把新密码发到您的邮箱。",
            "Apăsați legătura de sub formularul de autentificare și veți primi o parolă nouă pe e-mail.",
        ],
    ),
    entry(
        "What should I feed a kitten?",
        [
            "Young cats need wet food rich in protein, four small meals a day.",
            "子猫にはたんぱく質の多いウェットフードを一日四回少しずつ与えます。",
            "小猫需要富含蛋白质的湿粮，每天分四次少量喂食。",
            "Puii de pisică au nevoie de hrană umedă bogată în proteine, de patru ori pe zi.",
        ],
    ),
    entry(
        "Why is the sky blue?",
        [
            "Air scatters short wavelengths of sunlight more strongly than long ones.",
            "空気は太陽光のうち波長の短い光をより強く散乱させます。",
            "空气对阳光中波长较短的光散射得更强。",
            "Aerul împrăștie mai puternic lumina solară cu lungime de undă mică.",
        ],
    ),
    entry(
        "Which documents are needed to register a company?",
        [
            "To found a business you file the articles, proof of address and the owner's identity card.",
            "会社を設立するには、定款、住所の証明、代表者の身分証明書を提出します。",
            "注册公司需要提交章程、地址证明和法人身份证。",
            "Pentru înființarea unei firme se depun actul constitutiv, dovada sediului și cartea de identitate.",
        ],
    ),
    entry(
        "How long should rice be cooked?",
        [
            "Simmer one cup of rice in two cups of water for eighteen minutes.",
            "米一カップに水二カップを加え、十八分ほど弱火で炊きます。",
            "一杯米加两杯水，小火煮十八分钟。",
            "Fierbeți o cană de orez în două căni de apă timp de optsprezece minute.",
        ],
    ),
    entry(
        "Is the train to the airport running tonight?",
        [
            "Because of track repairs, buses replace the airport railway after ten in the evening.",
            "線路工事のため、夜十時以降、空港線は代行バスになります。",
            "由于轨道维修，晚上十点以后机场铁路由巴士代替。",
            "Din cauza lucrărilor la linie, după ora douăzeci și două trenul spre aeroport este înlocuit de autobuze.",
        ],
    ),
    entry(
        "What are the symptoms of the flu?",
        [
            "Influenza begins suddenly with fever, aching muscles, a cough and great tiredness.",
            "インフルエンザは急な発熱、筋肉痛、せき、強いだるさで始まります。",
            "流感起病急，伴有发烧、肌肉酸痛、咳嗽和极度疲倦。",
            "Gripa începe brusc cu febră, dureri musculare, tuse și oboseală puternică.",
        ],
    ),
    entry(
        "Who painted the ceiling of the Sistine Chapel?",
        [
            "Michelangelo covered the chapel's vault with frescoes between 1508 and 1512.",
            "ミケランジェロは1508年から1512年にかけて礼拝堂の天井にフレスコ画を描きました。",
            "米开朗琪罗在1508年至1512年间为教堂穹顶绘制了壁画。",
            "Michelangelo a pictat frescele de pe bolta capelei între 1508 și 1512.",
        ],
    ),
    entry(
        "How can a household save electricity?",
        [
            "Switching off idle devices and using LED lamps lowers the power bill noticeably.",
            "使わない機器の電源を切り、LED電球に替えると電気代がはっきり下がります。",
            "关闭闲置电器并使用LED灯可以明显降低电费。",
            "Oprirea aparatelor nefolosite și becurile cu LED scad vizibil factura la curent.",
        ],
    ),
    entry(
        "What is the penalty for returning a rental car late?",
        [
            "Vehicles brought back after the agreed hour are charged one extra day.",
            "約束の時間を過ぎて車を返すと、一日分の追加料金がかかります。",
            "超过约定时间归还车辆，将加收一天的租金。",
            "Pentru mașinile aduse după ora stabilită se percepe o zi suplimentară.",
        ],
    ),
    entry(
        "How do bees make honey?",
        [
            "The insects carry nectar home and fan it with their wings until it thickens.",
            "ミツバチは花の蜜を巣に運び、羽であおいで水分を飛ばします。",
            "蜜蜂把花蜜带回蜂巢，用翅膀扇风使其变稠。",
            "Albinele aduc nectarul în stup și îl ventilează cu aripile până se îngroașă.",
        ],
    ),
    entry(
        "Where do I complain about noisy neighbours?",
        [
            "If quiet hours are ignored, report the disturbance to the municipal police.",
            "夜間の騒音がやまないときは、地域の警察に相談してください。",
            "如果邻居在夜间吵闹，可以向当地派出所投诉。",
            "Dacă vecinii nu respectă orele de liniște, sesizați poliția locală.",
        ],
    ),
    entry(
        "What is the budget for school repairs this year?",
        [
            "The council set aside three million to renovate classrooms and roofs of schools.",
            "議会は校舎の教室と屋根の改修に三百万を計上しました。",
            "市议会拨款三百万用于翻修学校的教室和屋顶。",
            "Consiliul a alocat trei milioane pentru renovarea claselor și acoperișurilor școlilor.",
        ],
    ),
    entry(
        "How is a database index used?",
        [
            "It lets the engine find matching rows without reading the whole table.",
            "索引があれば、表全体を読まずに該当する行を見つけられます。",
            "索引让数据库引擎无需扫描整张表就能找到匹配的行。",
            "Un index permite motorului bazei de date să găsească rândurile fără a citi tot tabelul.",
        ],
    ),
    entry(
        "Can I take liquids on a plane?",
        [
            "In hand luggage, bottles may hold at most 100 millilitres each.",
            "機内持ち込みの手荷物では、液体の容器は一本百ミリリットルまでです。",
            "随身行李中的液体容器每瓶不得超过一百毫升。",
            "În bagajul de mână, fiecare recipient cu lichid poate avea cel mult 100 de mililitri.",
        ],
    ),
    entry(
        "What causes earthquakes?",
        [
            "Plates of the crust catch on each other and slip suddenly, shaking the ground.",
            "地殻のプレートが引っかかり、急にずれることで地面が揺れます。",
            "地壳板块相互卡住后突然滑动，使大地震动。",
            "Plăcile scoarței terestre se blochează și alunecă brusc, zguduind pământul.",
        ],
    ),
    entry(
        "How many vacation days do employees get?",
        [
            "Staff are entitled to twenty-five days of paid leave each year.",
            "社員には年に二十五日の有給休暇があります。",
            "员工每年享有二十五天带薪假期。",
            "Angajații au dreptul la douăzeci și cinci de zile de concediu plătit pe an.",
        ],
    ),
    entry(
        "How do I prune an apple tree?",
        [
            "In late winter cut away crossing branches so that light reaches the fruit.",
            "冬の終わりに交差した枝を切り、実に光が当たるようにします。",
            "冬末剪去交叉的枝条，让阳光照到果实。",
            "La sfârșitul iernii tăiați ramurile care se încrucișează, ca lumina să ajungă la fructe.",
        ],
    ),
    entry(
        "When was the printing press invented?",
        [
            "Gutenberg began to print with movable metal type around 1450.",
            "グーテンベルクは1450年ごろ金属活字による印刷を始めました。",
            "古腾堡大约在1450年开始使用金属活字印刷。",
            "Gutenberg a început să tipărească cu litere mobile de metal în jurul anului 1450.",
        ],
    ),
    entry(
        "How do I cancel my newspaper subscription?",
        [
            "Write to the publisher a month before the end of the term to stop delivery of the paper.",
            "購読をやめるには、期限の一か月前に新聞社へ連絡してください。",
            "如要停止订阅报纸，请在到期前一个月通知出版社。",
            "Pentru a opri abonamentul la ziar, scrieți editurii cu o lună înainte de expirare.",
        ],
    ),
    entry(
        "What does the moon do to the sea?",
        [
            "Its gravity pulls the water and makes high and low tide.",
            "月の引力が海水を引き、満ち潮と引き潮を起こします。",
            "月球的引力牵引海水，形成涨潮和落潮。",
            "Gravitația Lunii atrage apa și produce fluxul și refluxul.",
        ],
    ),
    entry(
        "How do I train for a marathon?",
        [
            "Runners raise their weekly distance slowly and rest before the race.",
            "走る距離を毎週少しずつ増やし、大会の前は休みます。",
            "跑步者应逐步增加每周的里程，并在比赛前休息。",
            "Alergătorii măresc treptat distanța săptămânală și se odihnesc înaintea cursei.",
        ],
    ),
    entry(
        "Is this mushroom poisonous?",
        [
            "The death cap has white gills and a ring, and eating it destroys the liver.",
            "タマゴテングタケは白いひだとつばをもち、食べると肝臓を壊します。",
            "毒鹅膏菌有白色菌褶和菌环，食用会损坏肝脏。",
            "Buretele viperei are lamele albe și inel, iar consumul lui distruge ficatul.",
        ],
    ),
];
